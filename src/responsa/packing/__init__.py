"""The budget of a call, and the packing of passages into it."""
