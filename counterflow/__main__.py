"""Run the command line as `python -m counterflow`."""

from counterflow.cli import main

if __name__ == "__main__":  # not in the spawned processes that draw pictures
    main()
