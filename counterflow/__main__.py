"""Run the command line as `python -m counterflow`."""

from counterflow.cli import main

main()
