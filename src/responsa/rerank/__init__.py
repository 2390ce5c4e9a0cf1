"""Scoring passages against a question with a reranking model behind a server."""
