"""HTTP sources: reports of RMF's Distributed Data Server (DDS), requested over one connection that is held open.

Nothing here interprets a report but for its interval: the format that reads files of responses reads it.
"""
