"""Tools that generate files for the chart and check it. The chart itself is `counterflow/`."""
