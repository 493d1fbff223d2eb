"""What alerts need of the line's results, as Prometheus metrics: verdicts, newest figures, jobs.

Nothing is stored. A verdict carries its state, so that the newest of each thing is all there is to know, and that
stands in the topics: a start reads back as far as something may still be said, and answers when it has read it.
"""
