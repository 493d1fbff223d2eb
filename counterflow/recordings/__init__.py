"""Computes results from files without services: reads on all cores, lands in this process's engine, computes there.

Schema and views are those of the line. In place of a Flink job runs its audit, the second definition of its result;
rules and wires are the functions of the jobs themselves.
"""
