"""The store that an index in a directory stands on: found, or made for a model."""

from __future__ import annotations

import asyncio
from pathlib import Path

from responsa.retrieval.embedding import adimensions_of, dimensions_of
from responsa.schema.protocols import Embedder

from .contract import Store, StoreMeta
from .directory import IndexDirectory
from .lance import LanceStore


def open_or_create_store(path: str | Path, model: Embedder) -> Store:
    """Open the store in a directory, or make one for the model's vectors, which embeds one word."""
    if IndexDirectory(path).exists():
        return LanceStore.open(path)
    IndexDirectory(path).check_free()
    return LanceStore.create(path, StoreMeta(model.model_name, dimensions_of(model)))


async def aopen_or_create_store(path: str | Path, model: Embedder) -> Store:
    """Open the store in a directory, or make one for the model's vectors, which embeds one word."""
    if await asyncio.to_thread(IndexDirectory(path).exists):
        return await LanceStore.aopen(path)
    await asyncio.to_thread(IndexDirectory(path).check_free)
    return await LanceStore.acreate(path, StoreMeta(model.model_name, await adimensions_of(model)))
