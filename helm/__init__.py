"""The chart's workshop: what is generated for it, and what it is checked with. The chart itself is `counterflow/`."""
