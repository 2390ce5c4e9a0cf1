"""Documents over HTTP: taken in by their content, read in a process of their own, kept up to date in an index."""
