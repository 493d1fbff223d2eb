"""Benchmarks: each module measures one thing against a stated limit and a peer in the same run."""
