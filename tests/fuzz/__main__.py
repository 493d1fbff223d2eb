"""Coverage-guided fuzzing of every format: `make fuzz ARGS="--seconds 600 --format nmon"`.

An input is one byte that selects the format, then the bytes. One that fails is kept in `cases/fuzz/` of its format, and
`pytest tests/fuzz` reads it from then on.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

if "--child" in sys.argv:  # before anything else imports them
    import atheris  # type: ignore[import-not-found]

    with atheris.instrument_imports(include=["counterflow.collectors.formats"], enable_loader_override=False):
        from counterflow.collectors.formats import formats

        formats()
from counterflow.collectors.formats import formats
from tests.fuzz.contract import check, corpus, seeds

LONGEST = 8_192
SLOW_S, MEMORY_MIB = 20, 1_500


@click.command()
@click.option("--seconds", type=int, default=300, show_default=True, help="How long to look.")
@click.option("--format", "names", multiple=True, type=click.Choice(sorted(formats())), help="Of this format only.")
@click.option("--work", type=click.Path(path_type=Path), default=Path(".counterflow/fuzz"), help="Where they are kept.")
@click.option("--seed", type=int, default=0, help="Seed of the inputs; 0: another one each time.", show_default=True)
@click.option("--child", is_flag=True, hidden=True)
def main(seconds: int, names: Sequence[str], work: Path, seed: int, child: bool) -> None:
    """Look for inputs that break what a format promises; exit status 1 when there is one."""
    chosen = list(names) or sorted(formats())
    folders = {name: work / name for name in ("seeds", "found", "failed")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    if child:
        _fuzz(chosen, seconds, seed, folders)
    for number, name in enumerate(chosen):
        for content in seeds(name).values():
            if len(content) < LONGEST:
                (folders["seeds"] / hashlib.sha256(content + name.encode()).hexdigest()).write_bytes(
                    bytes([number]) + content
                )
    ended = subprocess.run([sys.executable, "-m", "tests.fuzz", *sys.argv[1:], "--child"], check=False).returncode
    failures = [path for path in folders["failed"].iterdir() if _fails(chosen, path)]
    for path in failures:
        name, content = _split(chosen, path.read_bytes())
        kept = corpus(name) / hashlib.sha256(content).hexdigest()[:16]
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(content)
        click.echo(f"{name}: {kept} breaks what a format promises: pytest tests/fuzz -k golden", err=True)
    sys.exit(1 if failures or ended else 0)


def _fuzz(names: Sequence[str], seconds: int, seed: int, folders: dict[str, Path]) -> None:
    def one(data: bytes) -> None:
        if data:
            check(*_split(names, data))

    options = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-timeout={SLOW_S}", f"-rss_limit_mb={MEMORY_MIB}"]
    options += [f"-artifact_prefix={folders['failed']}/", f"-seed={seed}", "-print_final_stats=1", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *options, str(folders["found"]), str(folders["seeds"])], one)
    atheris.Fuzz()


def _split(names: Sequence[str], data: bytes) -> tuple[str, bytes]:
    return names[data[0] % len(names)], data[1:]


def _fails(names: Sequence[str], path: Path) -> bool:
    """Return whether an input that failed still fails; one that was slow or took too much memory counts as failing."""
    try:
        check(*_split(names, path.read_bytes()))
    except Exception:
        return True
    return path.name.startswith(("timeout", "oom"))


if __name__ == "__main__":
    main()
