"""Splitting, at the place LlamaIndex has it."""

from __future__ import annotations

from .retrieval.splitting import SentenceSplitter

__all__ = ["SentenceSplitter"]
