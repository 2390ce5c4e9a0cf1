"""Embedding models: packaged, or behind an OpenAI-compatible server."""
