"""What a change would do to measured work: formulas, and their errors on printed runs."""
