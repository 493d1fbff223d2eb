"""Cases: a module here with a `CASE`. Being here is its registration; an underscore in a name is a dash or a dot."""
