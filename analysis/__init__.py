"""Queries over ClickHouse: stored questions, published checks, studies of runs."""

if __name__ == "analysis":  # the folder of a checkout: its modules would be loaded a second time
    raise ImportError("import counterflow.analysis instead of analysis")
