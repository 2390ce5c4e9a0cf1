"""Words, sentence boundaries and token estimates, for English and Chinese."""

__all__: list[str] = []
