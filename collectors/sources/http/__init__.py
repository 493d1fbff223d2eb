"""HTTP sources: RMF's Distributed Data Server (DDS), asked for reports over one held connection.

Nothing here knows what a report says but when its interval ended: it is read where files of responses are read.
"""
