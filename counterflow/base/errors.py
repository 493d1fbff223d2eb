"""What the user sees as a sentence instead of a traceback."""

from io import UnsupportedOperation

UNREACHED = "counterflow status shows which parts run; on Kubernetes, kubectl get pods"
"""The hint where a part does not answer."""


class CounterflowError(Exception):
    """A problem that the user can fix: what happened, where, and the way out.

    Parameters
    ----------
    message : what happened, naming the file, line, port or part.
    hint : the way out: a sentence or a command to type.
    exit_code : exit status of the process; 1: the work failed; 2: wrong input or configuration.
    """

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = 1) -> None:
        super().__init__(message)
        if hint:
            self.add_note(f"hint: {hint}")  # which a notebook shows below the message
        self.message = message
        self.hint = hint
        self.exit_code = exit_code


def why(error: OSError) -> str:
    """Return what is wrong with a file, and the way out."""
    hint = {
        PermissionError: "; give this user read permission",
        FileNotFoundError: "; check the path",
        UnsupportedOperation: "; give `-` to read standard input",
    }
    return f"{error.strerror or str(error).removesuffix('.')}{hint.get(type(error), '')}"
