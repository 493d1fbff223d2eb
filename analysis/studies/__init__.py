"""Studies: applies published measurements to measured workloads, and compares measured runs."""
