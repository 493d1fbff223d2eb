"""Exposes what alerts need as Prometheus metrics: verdicts, newest figures, jobs.

The exporter stores nothing. A verdict carries its state, so the newest verdict of each entity suffices. On start it
reads the topics back as far as a value may still count, then begins to answer.
"""
