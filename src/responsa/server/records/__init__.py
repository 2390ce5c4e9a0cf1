"""What the service keeps of its own, besides keys and sessions: documents, jobs, feedback."""

from __future__ import annotations

from .database import Records

__all__ = ["Records"]
