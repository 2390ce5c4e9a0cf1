"""Documents in, an index over them, and the search for passages."""
