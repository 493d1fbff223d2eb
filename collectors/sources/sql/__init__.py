"""SQL sources: one held connection a system, questions from query packs, answers with the position they reach.

Nothing here knows what the columns mean: a table's rows are read where CSV exports of it are read.
"""
