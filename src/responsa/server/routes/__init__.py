"""The paths, one file a group: thin, each a few lines from request to reply."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from . import (
    answers,
    documents,
    feedback,
    health,
    jobs,
    messages,
    metrics,
    openai,
    planning,
    rewriting,
    search,
    sessions,
)

__all__ = ["ROUTERS"]

ROUTERS: Final[tuple[APIRouter, ...]] = (
    health.router,
    answers.router,
    search.router,
    rewriting.router,
    planning.router,
    sessions.router,
    messages.router,
    feedback.router,
    documents.router,
    jobs.router,
    openai.router,
    metrics.router,
)
