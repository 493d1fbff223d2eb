"""A case is a module of this package with a `CASE`; an underscore in its name stands for a dash or a dot."""
