"""Who may ask, and what is refused before anything is read."""

from __future__ import annotations

from .keys import ApiKey, KeyStore, Scope

__all__ = ["ApiKey", "KeyStore", "Scope"]
