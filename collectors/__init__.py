"""From bytes to records: the agent, the formats that it reads, and where bytes come from."""

if __name__ == "collectors":  # the folder of a checkout: its modules would be loaded a second time
    raise ImportError("import counterflow.collectors instead of collectors")
