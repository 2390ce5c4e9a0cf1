"""Conversations over HTTP: each belongs to the key that made it, and is answered one message at a time."""

from __future__ import annotations

from .store import Sessions

__all__ = ["Sessions"]
