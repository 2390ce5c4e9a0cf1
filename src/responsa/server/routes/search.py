"""Searching alone, without an answer."""

from __future__ import annotations

import time
from typing import Final

from fastapi import APIRouter, Request

from responsa.query_engine import RetrieverQueryEngine
from responsa.response_synthesizers import NoText

from ..answering.hits import hits_of
from ..models.replies import HitReply, SearchReply
from ..models.requests import SearchRequest
from ..security.bearer import Reader
from ..service import service_of
from .documented import failures

router = APIRouter(prefix="/v1", tags=["search"])
_MODES: Final = {"hybrid": "hybrid", "meaning": "default", "words": "text_search"}


@router.post("/search", responses=failures(404, 502, 503, 504))
async def search(body: SearchRequest, request: Request, caller: Reader) -> SearchReply:
    """Return the hits for a question, without an answer."""
    began = time.monotonic()
    index = await service_of(request).indexes.get(body.index)
    retriever = index.as_retriever(body.top_k, vector_store_query_mode=_MODES[body.by])
    found = await RetrieverQueryEngine(retriever, NoText()).aretrieve(body.question)
    hits = [HitReply(**hit) for hit in hits_of(found)]
    return SearchReply(hits=hits, seconds=round(time.monotonic() - began, 4))
