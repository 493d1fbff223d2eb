"""Systems that are queried: one open connection each, its responses with the position that they reach, and its errors.

Each kind of source, such as `sql` or `http`, defines its connection and its queries.
"""
