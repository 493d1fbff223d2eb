"""The report: one self-contained HTML file, and a picture of each chart, from the definitions of the charts."""
