"""From files to results without services: read on all cores, landed in the engine in this process, computed there.

The schema and the views are those of the line. What a Flink job computes is here computed by its audit, which is its
second definition; rules and wires are the very functions of the jobs.
"""
