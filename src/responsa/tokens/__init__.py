"""Words, sentence boundaries and token estimates, for English and Chinese."""
