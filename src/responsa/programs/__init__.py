"""What to ask, as generators without I/O, and the drivers that run them."""
