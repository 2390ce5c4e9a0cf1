"""The servers behind one model: what they serve, whom to ask, and how a request is written."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..http.messages import Exchange, Request
from ..http.per_loop import PerLoop
from ..schema.completions import Sampling
from ..schema.errors import (
    ModelNotFound,
    RateLimited,
    RequestRefused,
    ServerError,
    ServerLoading,
    ServerTimeout,
    ServerUnreachable,
    WindowAboveServed,
)
from ..schema.messages import ChatMessage
from .pool import ModelServer, ServerPool
from .prompt_text import messages_to_prompt
from .request_body import messages_body, sampling_body, without_none
from .served import Served, ask_server
from .speeds import Speeds
from .structured import Ways
from .token_counts import TokenCounts

# Fields of a request that a chat template reads: they must be there when a prompt is counted.
TEMPLATE_FIELDS: Final = ("chat_template_kwargs", "tools", "reasoning_effort")
PROBE_SECONDS: Final = 1.0


def is_servers_fault(error: ServerError) -> bool:
    """Say whether another server may do what this one could not."""
    if isinstance(error, RequestRefused):
        return error.status >= 500 and error.status != 501
    return isinstance(error, ServerUnreachable | ServerLoading | ServerTimeout | RateLimited)


def all_failed(faults: Sequence[ServerError]) -> ServerError:
    """Return the error of a model each of whose servers failed: it names every address and its reason.

    Where all failed in one and the same way, other than not being there, that way's own error is returned.
    """
    kinds = {type(fault) for fault in faults}
    if len(faults) == 1 or (len(kinds) == 1 and ServerUnreachable not in kinds):
        return faults[-1]
    reasons = [fault.reason if isinstance(fault, ServerUnreachable) else fault.render() for fault in faults]
    told = "; ".join(f"{fault.url}: {reason}" for fault, reason in zip(faults, reasons, strict=True))
    return ServerUnreachable(", ".join(fault.url for fault in faults), told)


@dataclass(frozen=True, slots=True)
class Turn:
    """A server's turn to count.

    Args:
        server: The server.
        max_retries: Overrides its client's number of retries.
        last: Whether no other server comes after it.
    """

    server: ModelServer
    max_retries: int | None
    last: bool


@dataclass(eq=False)
class Backend:
    """The servers of one model, asked once what they serve.

    Args:
        pool: The servers.
        counts: The model's token counts.
        model: The configured model's id, or None.
        is_chat_model: Whether messages are sent, else one prompt.
        is_function_calling_model: Whether tools may be sent.
        context_window: The configured window in tokens, or None.
        defaults: The sampling of a call that sets nothing.
        extra: Further fields of every request's body.
        strict: Whether a server is asked for its strict form of a schema.
    """

    pool: ServerPool
    counts: TokenCounts
    model: str | None
    is_chat_model: bool
    is_function_calling_model: bool
    context_window: int | None
    defaults: Sampling
    extra: Mapping[str, Any]
    strict: bool

    def __post_init__(self) -> None:
        self.ways = Ways()
        self.reasoning_opened: bool | None = None
        self.reasoned = False
        self.speeds = Speeds()
        self._asking = threading.Lock()
        self._asking_async: PerLoop[asyncio.Lock] = PerLoop(asyncio.Lock, _nothing_to_close)

    @property
    def single(self) -> bool:
        """Whether there is only one server."""
        return len(self.pool.servers) == 1

    def served(self) -> list[Served]:
        """Return what the servers that were asked serve."""
        return [server.served for server in self.pool.servers if server.served is not None]

    def ask(self) -> None:
        """Ask the servers what they serve, unless that is known."""
        if self._unknown():
            with self._asking:
                faults: list[ServerError] = []
                for server in self._unknown():
                    try:
                        self._learn(server, server.client.run(self._question(server)))
                    except ServerError as error:
                        faults.append(self._not_known(server, error))
                self._require(faults)

    async def aask(self) -> None:
        """Ask the servers what they serve without blocking, unless that is known."""
        if self._unknown():
            async with await self._asking_async.get():
                faults: list[ServerError] = []
                for server in self._unknown():
                    try:
                        self._learn(server, await server.client.arun(self._question(server)))
                    except ServerError as error:
                        faults.append(self._not_known(server, error))
                self._require(faults)

    def probe(self) -> None:
        """Ask servers that were left out whether they are back, where it is time."""
        for server in self.pool.to_probe():
            try:
                server.client.run(self._probing(server))
            except ServerError as error:
                self._probed(server, error)
            else:
                self._probed(server, None)

    async def aprobe(self) -> None:
        """Ask servers that were left out whether they are back without blocking."""
        for server in self.pool.to_probe():
            try:
                await server.client.arun(self._probing(server))
            except ServerError as error:
                self._probed(server, error)
            else:
                self._probed(server, None)

    def counting_turns(self) -> Iterator[Turn]:
        """Yield the servers that may count, one after another as long as they fail; only the last is tried again."""
        known = [server for server in self.pool.healthy() if server.served is not None]
        known = known or [server for server in self.pool.servers if server.served is not None]
        for place, server in enumerate(known):
            last = place + 1 == len(known)
            yield Turn(server, None if last else 0, last)

    def counting_failed(self, turn: Turn, error: ServerError) -> None:
        """Leave a server out that failed to count; raises where there is no reason to ask another."""
        if not self.single and is_servers_fault(error):
            self.pool.failed(turn.server)
            if not turn.last:
                return
        raise error

    def counting_texts(self, server: ModelServer, texts: Sequence[str]) -> Exchange[list[int]]:
        """Count texts with one server."""
        served = server.served or Served()
        return self.counts.texts(server.client, served, self._model_of(served), texts)

    def counting_prompts(self, server: ModelServer, prompts: Sequence[Sequence[ChatMessage]]) -> Exchange[list[int]]:
        """Count prompts with one server."""
        served = server.served or Served()
        if not self.is_chat_model:
            texts = [messages_to_prompt(messages) for messages in prompts]
            return self.counts.bare_prompts(server.client, served, self._model_of(served), texts)
        bodies = [{**self.prompt_body(served, messages), **self._template_fields()} for messages in prompts]
        return self.counts.chat_prompts(server.client, served, bodies, prompts)

    def prompt_body(self, served: Served, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        """Return the fields of a body that name the model and hold the prompt."""
        if self.is_chat_model:
            return {"model": self._model_of(served), "messages": messages_body(messages)}
        return {"model": self._model_of(served), "prompt": messages_to_prompt(messages)}

    def request(
        self,
        server: ModelServer,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        fields: Mapping[str, Any],
        **limits: Any,
    ) -> Request:
        """Write the request of a call.

        Args:
            server: Who gets it.
            messages: The prompt.
            sampling: The call's sampling.
            fields: Fields that ask for a schema.
            limits: The request's own `max_retries` and `total`.
        """
        body: dict[str, Any] = {
            **self.prompt_body(server.served or Served(), messages),
            "stream": True,
            "stream_options": {"include_usage": True},
            **fields,
            **sampling_body(sampling, self.defaults),
            **self.extra,
            **sampling.extra,
        }
        path = "/chat/completions" if self.is_chat_model else "/completions"
        return server.client.post(path, without_none(body), **limits)

    def opens_reasoning(self, served: Served) -> bool:
        """Say whether answers begin inside a reasoning tag."""
        return served.opens_reasoning if self.reasoning_opened is None else self.reasoning_opened

    def _unknown(self) -> list[ModelServer]:
        unknown = [server for server in self.pool.servers if server.served is None]
        if len(unknown) == len(self.pool.servers):
            return unknown
        return [server for server in unknown if server.probe_at is None]

    def _question(self, server: ModelServer) -> Exchange[Served]:
        fields = self._template_fields() if self.is_chat_model else None
        return ask_server(server.client, self.model, fields, max_retries=None if self.single else 0)

    def _learn(self, server: ModelServer, served: Served) -> None:
        window = self.context_window
        if window is not None and served.n_ctx is not None and window > served.n_ctx:
            raise WindowAboveServed(window, served.n_ctx)
        server.served = served
        self.pool.well(server)

    def _not_known(self, server: ModelServer, error: ServerError) -> ServerError:
        if self.single or not is_servers_fault(error):
            raise error
        self.pool.failed(server)
        return error

    def _require(self, faults: list[ServerError]) -> None:
        if not self.served():
            raise all_failed(faults) from faults[-1]

    def _probing(self, server: ModelServer) -> Exchange[None]:
        yield server.client.get("/models", max_retries=0, total=PROBE_SECONDS)
        if server.served is None:
            self._learn(server, (yield from self._question(server)))

    def _probed(self, server: ModelServer, error: ServerError | None) -> None:
        if error is not None and (is_servers_fault(error) or server.served is None):
            self.pool.failed(server)
        else:
            self.pool.well(server)

    def _template_fields(self) -> dict[str, Any]:
        return {name: self.extra[name] for name in TEMPLATE_FIELDS if name in self.extra}

    def _model_of(self, served: Served) -> str:
        return self.model or served.model or "default"


def name_served(error: ServerError, served: Served) -> ServerError:
    """Return an error with the served ids where a server only said that it has no such model."""
    if isinstance(error, ModelNotFound) and not error.served:
        return ModelNotFound(error.url, error.model, served.ids)
    return error


async def _nothing_to_close(_: asyncio.Lock) -> None:
    """A lock holds nothing."""
