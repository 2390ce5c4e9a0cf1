"""Reading a streamed answer: event data in, deltas and one finish out. No I/O."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..http.failures import error_fields, failure_of_error, status_of_error
from ..http.messages import LARGEST_COUNT, excerpt_of
from ..http.sse import DONE
from ..schema.completions import Delta, Finish, StreamItem, Timings, Usage
from ..schema.errors import BadResponse, ServerError, StreamInterrupted
from .chunk_template import REASONING_KEYS, TEXT_KEYS, ChunkTemplate
from .reasoning import CLOSING_TAG, OPENING_TAG, ReasoningSplitter

# A token has a few characters; a server that writes so many for each it was allowed does not mean to end.
CHARACTERS_A_TOKEN: Final = 100
LONGEST_ANSWER: Final = 16_000_000
_END = "the connection ended before the answer did"


class ChunkReader:
    """Turns the chunks of a chat completion or a completion into typed pieces.

    Args:
        url: The request's address, for errors.
        reasoning_opened: Whether the prompt itself opened the reasoning tag.
        calls_function: Whether the answer is what the model calls a function with.
        max_tokens: The tokens the answer was allowed; None where it was not limited.
        on_finish: Called with the `Finish` when the answer is whole.
    """

    def __init__(
        self,
        url: str,
        *,
        reasoning_opened: bool = False,
        calls_function: bool = False,
        max_tokens: int | None = None,
        on_finish: Callable[[Finish], None] | None = None,
    ) -> None:
        self.url = url
        self._splitter = ReasoningSplitter(reasoning_opened)
        self._calls_function = calls_function
        self._on_finish = on_finish
        self._room = LONGEST_ANSWER if max_tokens is None else (max_tokens + 1) * CHARACTERS_A_TOKEN
        self._reasoning_room = LONGEST_ANSWER
        self._template = ChunkTemplate()
        self._started = time.perf_counter()
        self._first: float | None = None
        self._texts: list[str] = []
        self._done = self._finished = False
        self._reason: str | None = None
        self._model: str | None = None  # "" once a chunk named none
        self._usage: Mapping[str, Any] = {}
        self._timings: Mapping[str, Any] = {}

    @property
    def has_begun(self) -> bool:
        """Whether any text or reasoning has arrived."""
        return self._first is not None

    @property
    def reasoned(self) -> bool:
        """Whether any reasoning has arrived."""
        return self._reasoning_room < LONGEST_ANSWER or self._splitter.closed

    @property
    def opens_reasoning(self) -> bool | None:
        """Whether this answer shows that prompts open the reasoning tag; None if it shows nothing."""
        if self._splitter.opened:
            return None if self._reason == "length" else self._splitter.closed
        text = self.text_so_far
        return True if CLOSING_TAG in text and OPENING_TAG not in text else None

    @property
    def text_so_far(self) -> str:
        """The text that has arrived."""
        return "".join(self._texts)

    def feed(self, data: bytes) -> list[StreamItem]:
        """Take the data of one event and return the pieces it carries."""
        like = self._template.read(data)
        if like:
            return self._pieces("", like) if self._template.is_reasoning else self._pieces(like, "")
        if data == DONE:
            self._done = True
            return self.finish()
        try:
            chunk = json.loads(data)
            choices = chunk.get("choices")
        except (ValueError, RecursionError, AttributeError) as error:
            raise self._nonsense(data) from error
        pieces = self._choice(data, chunk, choices) if choices else []
        if not self._quiet(chunk):
            self._note(chunk)
        return pieces

    def finish(self) -> list[StreamItem]:
        """End the stream: return the last pieces and the `Finish`, once; raises if the answer is not complete."""
        if self._finished:
            return []
        self._finished = True
        pieces: list[StreamItem] = list(self._kept(self._splitter.close(finished=self._reason != "length")))
        if self._reason is None and not self._done:
            if self._first is None:
                raise BadResponse(self.url, _END)
            raise StreamInterrupted(self.url, self.text_so_far, _END)
        finish = Finish(self._reason, self._tokens(), self._times(), self._model or None)
        if self._on_finish is not None:
            self._on_finish(finish)
        return [*pieces, finish]

    def broken(self, error: ServerError) -> ServerError:
        """Return what to raise for `error`: an interruption that keeps the text, if any had arrived."""
        if self._first is None or isinstance(error, StreamInterrupted):
            return error
        # What broke a good answer off is said alone, not with the doubt whether this is a model server.
        reason = error.reason if isinstance(error, BadResponse) else error.render()
        return StreamInterrupted(self.url, self.text_so_far, reason)

    def _choice(self, data: bytes, chunk: dict[str, Any], choices: Any) -> list[StreamItem]:
        try:
            choice = choices[0]
            if choice.get("index"):
                return []  # one of several answers asked for beside the first
            delta = choice.get("delta")
            if delta is None:
                delta = choice.get("message") or choice
            text_key = next((key for key in TEXT_KEYS if delta.get(key)), "")
            reasoning_key = next((key for key in REASONING_KEYS if delta.get(key)), "")
            text, reasoning = delta.get(text_key), delta.get(reasoning_key)
            if self._calls_function and (calls := delta.get("tool_calls")):
                text_key, text = "", calls[0]["function"].get("arguments")
            reason = choice.get("finish_reason")
        except (AttributeError, TypeError, KeyError, IndexError) as error:
            raise self._nonsense(data) from error
        text, reasoning = (value if isinstance(value, str) else "" for value in (text, reasoning))
        if reason is not None:
            self._reason = str(reason)
        elif bool(text) != bool(reasoning) and (text_key or reasoning) and self._quiet(chunk):
            self._template.learn(data, chunk, delta, text_key if text else reasoning_key)
        return self._pieces(text, reasoning) if text or reasoning else []

    def _quiet(self, chunk: dict[str, Any]) -> bool:
        """Say whether a chunk tells nothing but text."""
        return self._model is not None and not (chunk.get("usage") or chunk.get("timings") or chunk.get("error"))

    def _nonsense(self, data: bytes) -> BadResponse:
        return BadResponse(self.url, f"not a chunk of an answer: {excerpt_of(data)!r}")

    def _pieces(self, text: str, reasoning: str) -> list[StreamItem]:
        if self._first is None:
            self._first = time.perf_counter()
        self._room -= len(text)
        self._reasoning_room -= len(reasoning)  # not every server counts it among the answer's tokens
        if self._room < 0 or self._reasoning_room < 0:
            raise BadResponse(self.url, "the answer goes on far beyond the tokens it was allowed")
        if not reasoning and self._splitter.is_over:
            self._texts.append(text)
            return [Delta(text)]
        pieces: list[StreamItem] = []
        if reasoning:
            pieces.append(Delta("", reasoning))
            self._splitter.reasoning_is_apart()
        if text:
            pieces += self._kept(self._splitter.feed(text))
        return pieces

    def _kept(self, pieces: list[Delta]) -> list[Delta]:
        for piece in pieces:
            if piece.text:
                self._texts.append(piece.text)
        return pieces

    def _note(self, chunk: dict[str, Any]) -> None:
        error = chunk.get("error")
        if error:
            fields, message = error_fields(chunk)
            raise failure_of_error(self.url, status_of_error(fields), fields, message).error
        self._model = model if isinstance(model := chunk.get("model"), str) else self._model or ""
        if isinstance(usage := chunk.get("usage"), dict):
            self._usage = usage
        if isinstance(timings := chunk.get("timings"), dict):
            self._timings = timings

    def _tokens(self) -> Usage:
        usage, timings = self._usage, self._timings
        prompt, completion = _whole(usage.get("prompt_tokens")), _whole(usage.get("completion_tokens"))
        details = usage.get("prompt_tokens_details")
        cached = _whole(details.get("cached_tokens")) if isinstance(details, dict) else None
        if cached is None:
            cached = _whole(timings.get("cache_n"))
        evaluated = _whole(timings.get("prompt_n"))
        if prompt is None and evaluated is not None:
            prompt = evaluated + (cached or 0)
        if completion is None:
            completion = _whole(timings.get("predicted_n"))
        return Usage(prompt, completion, cached)

    def _times(self) -> Timings:
        return Timings(
            first_token=None if self._first is None else self._first - self._started,
            total=time.perf_counter() - self._started,
            server_prompt=_seconds(self._timings.get("prompt_ms")),
            server_predicted=_seconds(self._timings.get("predicted_ms")),
        )


def _whole(value: Any) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value <= LARGEST_COUNT else None


def _seconds(milliseconds: Any) -> float | None:
    is_number = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    # Rounded: what is divided by a time far below a nanosecond may be too large for a number.
    return round(milliseconds / 1000, 9) if is_number and 0 <= milliseconds <= LARGEST_COUNT else None
