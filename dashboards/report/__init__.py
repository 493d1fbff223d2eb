"""The report: one HTML file that needs nobody else, and a picture of each chart, from the definitions of the charts."""
