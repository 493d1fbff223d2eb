"""Studies: published measurements applied to what is measured here, and measured runs set side by side."""
