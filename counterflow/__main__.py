"""Run the command line as `python -m counterflow`."""

from counterflow.cli import main

if __name__ == "__main__":  # not where a process of its own draws pictures
    main()
