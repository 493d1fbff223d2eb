"""Where Flink is: its distribution inside the PyFlink package, its jars, its configuration and its checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from counterflow.base.errors import CounterflowError
from counterflow.stack.runtimes import java_environment


@dataclass(frozen=True)
class FlinkFiles:
    """Files of Flink: `home` has its configuration, checkpoints and scratch files, `parts` its software."""

    home: Path
    parts: Path

    @property
    def library(self) -> Path:
        """The jars that Flink's processes load."""
        return self.parts / "flink-library"

    @property
    def checkpoints(self) -> Path:
        """Checkpoints, one folder per job id."""
        return self.home / "checkpoints"

    @property
    def python(self) -> Path:
        """The interpreter that has PyFlink."""
        return self.parts / "flink-venv" / "bin" / "python"

    @property
    def distribution(self) -> Path:
        """`FLINK_HOME`. Raises `CounterflowError` where Flink is not installed."""
        found = sorted((self.parts / "flink-venv" / "lib").glob("python3*/site-packages/pyflink"))
        if not found:
            raise CounterflowError(f"Flink is not installed in {self.parts}", hint="counterflow up installs it")
        return found[0]

    @property
    def environment(self) -> dict[str, str]:
        """Additional environment variables of Flink's scripts and a driver."""
        return {
            "FLINK_HOME": str(self.distribution),
            "FLINK_CONF_DIR": str(self.home / "conf"),
            "FLINK_LIB_DIR": str(self.library),
            **java_environment(self.parts),
        }
