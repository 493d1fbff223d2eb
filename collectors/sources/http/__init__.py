"""HTTP sources, each over one connection that is held open: reports of RMF's Distributed Data Server, and scrapes.

Nothing here interprets an answer but for the interval of a report: the format that reads files of answers reads it.
"""
