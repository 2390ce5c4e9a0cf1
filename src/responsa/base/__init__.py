"""Import paths of LlamaIndex."""

__all__: list[str] = []
