"""Scoring passages against a question with a reranking model behind a server."""

from .openai_like import OpenAILikeRerank

__all__ = ["OpenAILikeRerank"]
