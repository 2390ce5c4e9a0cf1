"""Where an answer's sentences come from: citations and support."""
