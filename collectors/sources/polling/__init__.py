"""Systems that are queried: one open connection each, its responses with the position that they reach, and its errors.

What a connection is and what is asked of it is the part of the kind of source, `sql` or `http`.
"""
