"""The response: the answer, and what happened on the way to it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .calls import CallRecord
from .citations import Citation
from .completions import Usage
from .excerpts import excerpt
from .nodes import NodeWithScore
from .notices import Notice
from .plans import SourceCoverage


class Outcome(StrEnum):
    """How an answer came out. A search that failed, or a first step that did, is an error and not an outcome.

    INTERRUPTED is what was read of a streamed answer that its reader closed.
    """

    ANSWERED = "answered"
    NO_SOURCES = "no_sources"
    REFUSED = "refused"
    STEP_FAILED = "step_failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """One of several independent answers.

    Args:
        index: Its place, from 0.
        text: The answer.
        value: The object, where an output class was asked for.
        numbers: The numbers of the passages it was asked about, from 1.
        source_nodes: Those passages.
        error: What it failed with, if it did.
    """

    index: int
    text: str
    value: Any = None
    numbers: tuple[int, ...] = ()
    source_nodes: tuple[NodeWithScore, ...] = ()
    error: Exception | None = None


@dataclass(slots=True)
class Response:
    """An answer with its sources, and everything that happened.

    Args:
        response: The answer's text; empty where there is none.
        source_nodes: The passages retrieved, numbered from 1 in this order by `citations` and `coverage`.
        metadata: Each passage's metadata by its identity.
        outcome: How the answer came out.
        language: The language of the fixed sentences, "en" or "zh".
        value: The object, where an output class was asked for.
        items: The independent answers of the accumulate modes.
        trace: Every call with its messages, spans, usage, timings and finish reason.
        coverage: For every source whether it entered a prompt whole, cut, or not at all.
        warnings: What the reader should know.
        grounded: Whether the answer was written from the passages.
        placeholder: What `str` gives in place of an empty answer.
        searched_with: What the search was made with, where it was not the question itself.
    """

    response: str | None
    source_nodes: list[NodeWithScore] = field(default_factory=list)
    metadata: dict[str, Any] | None = None
    outcome: Outcome = Outcome.ANSWERED
    language: str = "en"
    value: Any = None
    items: tuple[AnswerItem, ...] = ()
    trace: tuple[CallRecord, ...] = ()
    coverage: tuple[SourceCoverage, ...] = ()
    warnings: tuple[Notice, ...] = ()
    grounded: bool = True
    placeholder: str = ""
    searched_with: str | None = None
    cite: Callable[[Response], tuple[Citation, ...]] | None = field(default=None, repr=False, compare=False)
    _citations: tuple[Citation, ...] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def text(self) -> str:
        """The answer's text; empty where there is none."""
        return self.response or ""

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The answer's sentences tied to their sources, worked out when first read."""
        if self._citations is None:
            self._citations = self.cite(self) if self.cite is not None else ()
        return self._citations

    @property
    def refused(self) -> bool:
        """Whether the model said that the passages hold no answer."""
        return self.outcome is Outcome.REFUSED

    @property
    def usage(self) -> Usage:
        """The tokens of all calls together, as far as the server counted them."""
        usages = [record.completion.usage for record in self.trace if record.completion is not None]
        return Usage(
            sum(usage.prompt_tokens or 0 for usage in usages),
            sum(usage.completion_tokens or 0 for usage in usages),
            sum(usage.cached_tokens or 0 for usage in usages),
        )

    @property
    def reasoning(self) -> str:
        """The model's reasoning in the call that gave the answer."""
        answered = [record.completion for record in self.trace if record.completion and record.call.visible]
        return answered[-1].reasoning if answered else ""

    def get_formatted_sources(self, length: int = 100) -> str:
        """Return the sources, a paragraph each, with at most `length` characters of each text."""
        return format_sources(self.source_nodes, length)

    def __str__(self) -> str:
        return self.text or self.placeholder


def format_sources(source_nodes: list[NodeWithScore], length: int = 100, *, trim_text: bool = True) -> str:
    """Return sources, a paragraph each, with at most `length` characters of each text, or with all of it."""

    def shown(text: str) -> str:
        if not trim_text:
            return text
        return excerpt(text, length, mark="...")

    return "\n\n".join(f"> Source (Doc id: {source.node_id}): {shown(source.text)}" for source in source_nodes)


def _joined(pieces: list[Any]) -> str:
    """Return the text of a stream's pieces; of partial objects, the last one's JSON."""
    if pieces and isinstance(pieces[-1], dict):
        return json.dumps(pieces[-1], ensure_ascii=False)
    if pieces and not isinstance(pieces[-1], str):
        return str(pieces[-1].model_dump_json(warnings=False))  # a part of an object need not be valid
    return "".join(pieces)


class StreamingResponse:
    """An answer that is still being written; its text comes from `response_gen`.

    Closing the generator closes the request. Whatever was read is kept: reading the whole response afterwards, in
    any way, continues where the reading stopped; after a close it is what was read, with the outcome INTERRUPTED; and
    where the answer failed it fails again with the same error, while `response_txt` still holds what was read.

    Args:
        pieces: The answer's text in pieces, or partial objects; its return value is the whole `Response`.
        source_nodes: The passages retrieved; where they are not known yet, those of the whole response at its end.
    """

    def __init__(self, pieces: Generator[Any, None, Response], source_nodes: list[NodeWithScore]) -> None:
        self._pieces = pieces
        self._read: list[Any] = []
        self._response: Response | None = None
        self._error: Exception | None = None
        self.source_nodes = source_nodes
        self.metadata = {source.node_id: dict(source.metadata) for source in source_nodes}

    @property
    def response_gen(self) -> Generator[Any, None, None]:
        """The answer's text in pieces, as they come."""
        return self._generate()

    def _generate(self) -> Generator[Any, None, None]:
        yield from list(self._read)
        if self._error is not None:
            raise self._error
        while self._response is None:
            try:
                piece = next(self._pieces)
            except StopIteration as stop:
                self._response = stop.value or self._interrupted()
                self.source_nodes = self.source_nodes or self._response.source_nodes
                self.metadata = self.metadata or self._response.metadata or {}
                return
            except Exception as error:
                self._error = error
                raise
            self._read.append(piece)
            try:
                yield piece
            except GeneratorExit:
                self.close()
                raise

    @property
    def response_txt(self) -> str:
        """What was read so far; of an object, its JSON as far as it has come."""
        return _joined(self._read)

    def close(self) -> None:
        """Stop the answer and close its request."""
        self._pieces.close()

    def get_response(self) -> Response:
        """Read to the end and return the whole response."""
        for _ in self._generate():
            pass
        return self._response or self._interrupted()

    def _interrupted(self) -> Response:
        return Response(self.response_txt, self.source_nodes, self.metadata, outcome=Outcome.INTERRUPTED)

    def print_response_stream(self) -> None:
        """Print the answer as it comes."""
        for piece in self._generate():
            print(piece, end="", flush=True)

    def get_formatted_sources(self, length: int = 100, trim_text: bool = True) -> str:
        """Return the sources, a paragraph each, with at most `length` characters of each text, or with all of it."""
        return format_sources(self.source_nodes, length, trim_text=trim_text)

    def __str__(self) -> str:
        return str(self.get_response())


class AsyncStreamingResponse:
    """An answer that is still being written, read without blocking; see `StreamingResponse`.

    Args:
        pieces: The answer's text in pieces, or partial objects, and last the whole `Response`.
        source_nodes: The passages retrieved; where they are not known yet, those of the whole response at its end.
    """

    def __init__(self, pieces: AsyncGenerator[Any, None], source_nodes: list[NodeWithScore]) -> None:
        self._pieces = pieces
        self._read: list[Any] = []
        self._response: Response | None = None
        self._error: Exception | None = None
        self.source_nodes = source_nodes
        self.metadata = {source.node_id: dict(source.metadata) for source in source_nodes}

    def async_response_gen(self) -> AsyncGenerator[Any, None]:
        """Return the answer's text in pieces, as they come."""
        return self._generate()

    @property
    def response_gen(self) -> AsyncGenerator[Any, None]:
        """The answer's text in pieces, as they come."""
        return self._generate()

    async def _generate(self) -> AsyncGenerator[Any, None]:
        for piece in list(self._read):
            yield piece
        if self._error is not None:
            raise self._error
        if self._response is not None:
            return
        try:
            async for item in self._pieces:
                if isinstance(item, Response):
                    self._response = item
                    self.source_nodes = self.source_nodes or item.source_nodes
                    self.metadata = self.metadata or item.metadata or {}
                else:
                    self._read.append(item)
                    yield item
        except GeneratorExit:
            await self.aclose()
            raise
        except Exception as error:
            self._error = error
            raise

    @property
    def response_txt(self) -> str:
        """What was read so far; of an object, its JSON as far as it has come."""
        return _joined(self._read)

    async def aclose(self) -> None:
        """Stop the answer and close its request."""
        await self._pieces.aclose()

    async def get_response(self) -> Response:
        """Read to the end and return the whole response."""
        async for _ in self._generate():
            pass
        return self._response or self._interrupted()

    def _interrupted(self) -> Response:
        return Response(self.response_txt, self.source_nodes, self.metadata, outcome=Outcome.INTERRUPTED)

    async def print_response_stream(self) -> None:
        """Print the answer as it comes."""
        async for piece in self._generate():
            print(piece, end="", flush=True)

    def get_formatted_sources(self, length: int = 100, trim_text: bool = True) -> str:
        """Return the sources, a paragraph each, with at most `length` characters of each text, or with all of it."""
        return format_sources(self.source_nodes, length, trim_text=trim_text)

    def __str__(self) -> str:
        """Return what was read so far: reading on would block."""
        return self.response_txt
