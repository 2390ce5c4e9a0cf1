"""One call of a model: its tries on servers, and in ways of asking for a schema, until one gives an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ..http.client import HTTPClient
from ..http.messages import Request
from ..http.timeouts import Deadline
from ..schema.completions import Finish, Sampling
from ..schema.errors import ContextWindowExceeded, RequestRefused, ServerError
from ..schema.messages import ChatMessage
from .backend import Backend, all_failed, is_servers_fault, name_served
from .chunks import ChunkReader
from .pool import ModelServer
from .prompt_text import messages_to_prompt
from .served import Served
from .structured import FUNCTION, PROMPT, way_body, way_messages, ways_of

# Statuses by which a server refuses a way of asking for a schema.
REFUSALS = (400, 404, 405, 415, 422, 500, 501)


@dataclass(eq=False, slots=True)
class Attempt:
    """One request of a call, and the reading of its answer.

    Args:
        server: Who gets it.
        request: The request.
        reader: Reads the answer.
        way: The way a schema is asked for; None without one.
    """

    server: ModelServer
    request: Request
    reader: ChunkReader
    way: str | None

    @property
    def client(self) -> HTTPClient:
        """The server's client."""
        return self.server.client


class Call:
    """One call of a model.

    Args:
        backend: The servers, and what is known of them.
        messages: The prompt.
        sampling: How it is to be answered.
    """

    _current: Attempt

    def __init__(self, backend: Backend, messages: Sequence[ChatMessage], sampling: Sampling) -> None:
        client = backend.pool.servers[0].client
        self._backend = backend
        self._messages = messages
        self._sampling = sampling
        self._prompt = "" if backend.single else messages_to_prompt(messages)
        self._deadline = Deadline(client.timeout.total)
        self._budget = client.max_retries + 1
        self._tried: list[ModelServer] = []
        self._faults: list[ServerError] = []
        self._refused_ways: list[str] = []

    @contextmanager
    def attempt(self) -> Iterator[Attempt]:
        """Give the next attempt, its server taken until the block ends."""
        server = self._backend.pool.take(self._prompt, self._tried)
        try:
            self._current = self._new_attempt(server)
            yield self._current
        finally:
            self._backend.pool.give_back(server)

    def failed(self, error: ServerError) -> None:
        """Take note of what ended the current attempt; raises unless another attempt makes sense."""
        attempt = self._current
        served = attempt.server.served or Served()
        if attempt.reader.has_begun:
            broken = attempt.reader.broken(error)
            raise broken from (error.__cause__ if broken is error else error)
        if isinstance(error, ContextWindowExceeded):
            self._backend.counts.learn(served, self._messages, error.n_prompt_tokens)
        if self._other_way(attempt, served, error):
            return
        if self._backend.single or not is_servers_fault(error):
            raise name_served(error, served) from error.__cause__
        self._backend.pool.failed(attempt.server)
        self._tried.append(attempt.server)
        self._faults.append(error)
        self._budget -= 1
        if self._budget < 1 or self._deadline.passed or len(self._tried) >= len(self._backend.pool.servers):
            raise all_failed(self._faults) from error

    def _new_attempt(self, server: ModelServer) -> Attempt:
        backend, sampling, served = self._backend, self._sampling, server.served or Served()
        schema, messages, fields, way = sampling.output_schema, self._messages, {}, None
        if schema is not None:
            way = self._ways(served)[0]
            messages = way_messages(way, messages, schema)
            fields = way_body(way, schema, served=served, strict=backend.strict)
        limits = {} if backend.single else {"max_retries": self._retries(), "total": max(0.001, self._deadline.left)}
        request = backend.request(server, messages, sampling, fields, **limits)
        reader = ChunkReader(
            request.url,
            reasoning_opened=backend.opens_reasoning(served),
            calls_function=way == FUNCTION,
            max_tokens=sampling.max_tokens or backend.defaults.max_tokens,
            on_finish=self._finished,
        )
        return Attempt(server, request, reader, way)

    def _finished(self, finish: Finish) -> None:
        """Learn from a whole answer."""
        attempt, backend = self._current, self._backend
        served = attempt.server.served or Served()
        backend.pool.well(attempt.server)
        backend.ways.refused(self._refused_ways)
        backend.counts.learn(served, self._messages, finish.usage.prompt_tokens)
        backend.speeds.learn(finish)
        backend.reasoned = backend.reasoned or attempt.reader.reasoned
        if attempt.way is not None:
            backend.ways.answered(attempt.way, attempt.reader.text_so_far, finish.reason)
        if not served.is_llama_server and (opens := attempt.reader.opens_reasoning) is not None:
            backend.reasoning_opened = opens

    def _retries(self) -> int:
        """Return the retries of the next request: none while there is another server to turn to."""
        last = len(self._tried) + 1 >= len(self._backend.pool.servers)
        return self._budget - 1 if last else 0

    def _ways(self, served: Served) -> list[str]:
        backend = self._backend
        ways = ways_of(
            served, is_chat_model=backend.is_chat_model, is_function_calling_model=backend.is_function_calling_model
        )
        return [way for way in backend.ways.open(ways) if way not in self._refused_ways]

    def _other_way(self, attempt: Attempt, served: Served, error: ServerError) -> bool:
        if attempt.way is None or attempt.way == PROMPT or not isinstance(error, RequestRefused):
            return False
        if error.status not in REFUSALS:
            return False
        self._refused_ways.append(attempt.way)
        return bool(self._ways(served))
