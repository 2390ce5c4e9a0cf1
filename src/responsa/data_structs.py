"""A passage, by the name and at the place the response synthesizers' pages of LlamaIndex import it from."""

from __future__ import annotations

from .schema.nodes import TextNode as Node

__all__ = ["Node"]
