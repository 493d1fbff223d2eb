"""Systems that are asked: one held connection each, what it answered with the position that is reached, trouble told.

What a connection is and what is asked of it is the part of the kind of source, `sql` or `http`.
"""
