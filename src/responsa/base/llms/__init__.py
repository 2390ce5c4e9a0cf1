"""Import paths of LlamaIndex."""
