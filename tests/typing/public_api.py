"""Never run: only type-checked, so that the public API keeps its types."""
