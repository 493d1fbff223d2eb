"""SQL sources: one held connection per system, queries from packs, answers with the position that they reach.

Nothing here knows what the columns mean: the format that reads CSV exports of a table reads its rows.
"""
