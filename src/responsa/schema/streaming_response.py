"""Answers that are still being written, read blocking and not."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Generator
from typing import Any

from .nodes import NodeWithScore
from .response import Outcome, Response, format_sources


class _StreamedAnswer:
    """What has been read of an answer, and what came of it."""

    def __init__(self, source_nodes: list[NodeWithScore]) -> None:
        self._read: list[Any] = []
        self._response: Response | None = None
        self._error: Exception | None = None
        self.source_nodes = source_nodes
        self.metadata = {source.node_id: dict(source.metadata) for source in source_nodes}

    @property
    def response_txt(self) -> str:
        """What was read so far; of an object, its JSON as far as it has come."""
        return _joined(self._read)

    def get_formatted_sources(self, length: int = 100, trim_text: bool = True) -> str:
        """Return the sources, a paragraph each, with at most `length` characters of each text, or with all of it."""
        return format_sources(self.source_nodes, length, trim_text=trim_text)

    def _end(self, response: Response) -> None:
        self._response = response
        self.source_nodes = self.source_nodes or response.source_nodes
        self.metadata = self.metadata or response.metadata or {}

    def _interrupted(self) -> Response:
        return Response(self.response_txt, self.source_nodes, self.metadata, outcome=Outcome.INTERRUPTED)


class StreamingResponse(_StreamedAnswer):
    """An answer that is still being written; its text comes from `response_gen`.

    Closing the generator closes the request. Whatever was read is kept: reading the whole response afterwards, in
    any way, continues where the reading stopped; after a close it is what was read, with the outcome INTERRUPTED; and
    where the answer failed it fails again with the same error, while `response_txt` still holds what was read.

    Args:
        pieces: The answer's text in pieces, or partial objects; its return value is the whole `Response`.
        source_nodes: The passages retrieved; where they are not known yet, those of the whole response at its end.
    """

    def __init__(self, pieces: Generator[Any, None, Response], source_nodes: list[NodeWithScore]) -> None:
        super().__init__(source_nodes)
        self._pieces = pieces

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
                self._end(stop.value or self._interrupted())
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

    def close(self) -> None:
        """Stop the answer and close its request."""
        self._pieces.close()

    def get_response(self) -> Response:
        """Read to the end and return the whole response."""
        for _ in self._generate():
            pass
        return self._response or self._interrupted()

    def print_response_stream(self) -> None:
        """Print the answer as it comes."""
        for piece in self._generate():
            print(piece, end="", flush=True)

    def __str__(self) -> str:
        return str(self.get_response())


class AsyncStreamingResponse(_StreamedAnswer):
    """An answer that is still being written, read without blocking; see `StreamingResponse`.

    Args:
        pieces: The answer's text in pieces, or partial objects, and last the whole `Response`.
        source_nodes: The passages retrieved; where they are not known yet, those of the whole response at its end.
    """

    def __init__(self, pieces: AsyncGenerator[Any, None], source_nodes: list[NodeWithScore]) -> None:
        super().__init__(source_nodes)
        self._pieces = pieces

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
                    self._end(item)
                else:
                    self._read.append(item)
                    yield item
        except GeneratorExit:
            await self.aclose()
            raise
        except Exception as error:
            self._error = error
            raise

    async def aclose(self) -> None:
        """Stop the answer and close its request."""
        await self._pieces.aclose()

    async def get_response(self) -> Response:
        """Read to the end and return the whole response."""
        async for _ in self._generate():
            pass
        return self._response or self._interrupted()

    async def print_response_stream(self) -> None:
        """Print the answer as it comes."""
        async for piece in self._generate():
            print(piece, end="", flush=True)

    def __str__(self) -> str:
        """Return what was read so far: reading on would block."""
        return self.response_txt


def _joined(pieces: list[Any]) -> str:
    """Return the text of a stream's pieces; of partial objects, the last one's JSON."""
    if pieces and isinstance(pieces[-1], dict):
        return json.dumps(pieces[-1], ensure_ascii=False)
    if pieces and not isinstance(pieces[-1], str):
        return str(pieces[-1].model_dump_json(warnings=False))  # a part of an object need not be valid
    return "".join(pieces)
