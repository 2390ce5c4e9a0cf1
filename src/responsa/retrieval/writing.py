"""Carrying out an ingest's steps on a model and a store, one writer at a time."""

from __future__ import annotations

import asyncio
import time
from array import array
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from typing import Final

from responsa.schema.errors import IndexLocked
from responsa.schema.protocols import Embedder

from .embedding import atext_vectors, text_vectors
from .ingest import Embed, IngestStep, IngestSteps, Write
from .progress import IngestProgress, IngestReport, ProgressCallback
from .stores.contract import Store
from .stores.locking import held

LOCK_RETRY_SECONDS: Final = 0.05


@contextmanager
def writing(store: Store, wait: float) -> Iterator[None]:
    """Hold the store's lock, waiting at most `wait` seconds for another writer to end.

    Raises:
        IndexLocked: It did not end.
    """
    end = time.monotonic() + wait
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(store.lock())
                break
            except IndexLocked:
                if time.monotonic() >= end:
                    raise
            time.sleep(LOCK_RETRY_SECONDS)
        yield


@asynccontextmanager
async def awriting(store: Store, wait: float) -> AsyncIterator[None]:
    """Hold the store's lock, waiting at most `wait` seconds for another writer to end.

    Raises:
        IndexLocked: It did not end.
    """
    end = time.monotonic() + wait
    async with AsyncExitStack() as stack:
        while True:
            try:
                await stack.enter_async_context(held(store.lock()))
                break
            except IndexLocked:
                if time.monotonic() >= end:
                    raise
            await asyncio.sleep(LOCK_RETRY_SECONDS)
        yield


def run_ingest(
    steps: IngestSteps, model: Embedder, store: Store, callbacks: Sequence[ProgressCallback]
) -> IngestReport:
    """Carry out all steps and return the report."""
    answer: Sequence[array[float]] | None = None
    while True:
        step = _next(steps, answer)
        answer = None
        match step:
            case Embed(texts):
                answer = text_vectors(model, texts, store)
            case Write(documents):
                store.replace_documents(documents)
            case IngestProgress():
                _tell(callbacks, step)
            case IngestReport():
                return step


async def arun_ingest(
    steps: IngestSteps, model: Embedder, store: Store, callbacks: Sequence[ProgressCallback]
) -> IngestReport:
    """Carry out all steps and return the report; what reads and cuts documents runs in a thread."""
    answer: Sequence[array[float]] | None = None
    while True:
        step = await asyncio.to_thread(_next, steps, answer)
        answer = None
        match step:
            case Embed(texts):
                answer = await atext_vectors(model, texts, store)
            case Write(documents):
                await store.areplace_documents(documents)
            case IngestProgress():
                _tell(callbacks, step)
            case IngestReport():
                return step


def _next(steps: IngestSteps, answer: Sequence[array[float]] | None) -> IngestStep | IngestReport:
    try:
        return steps.send(answer)
    except StopIteration as end:
        report: IngestReport = end.value
        return report


def _tell(callbacks: Sequence[ProgressCallback], progress: IngestProgress) -> None:
    for callback in callbacks:
        callback(progress)
