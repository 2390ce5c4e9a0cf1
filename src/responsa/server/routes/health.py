"""Whether the process is alive, and whether it can answer."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["operation"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Tell that the process is alive."""
    return {"status": "ok"}
