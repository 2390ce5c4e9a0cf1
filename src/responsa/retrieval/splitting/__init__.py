"""Documents cut into passages that know their place."""

from __future__ import annotations

from .sentence_splitter import SentenceSplitter

__all__ = ["SentenceSplitter"]
