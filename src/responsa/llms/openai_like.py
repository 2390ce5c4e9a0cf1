"""A model behind any OpenAI-compatible server: llama-server, vLLM, Ollama, LM Studio, hosted."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any, Final

from ..http.client import HTTPClient
from ..http.messages import Exchange
from ..http.timeouts import Timeout
from ..schema.completions import LLMMetadata, Sampling, StreamItem
from ..schema.errors import InvalidOption, ServerError
from ..schema.messages import ChatMessage
from .backend import Backend
from .base import LLM
from .call import Call
from .local_tokenizer import Tokenizer, token_counter
from .pool import ModelServer, ServerPool
from .token_counts import TokenCounts

# What is assumed of a server that does not tell its window, and where none is configured.
DEFAULT_CONTEXT_WINDOW: Final = 4096
DEFAULT_NUM_OUTPUT: Final = 512


class OpenAILike(LLM):
    """A model behind an OpenAI-compatible server, or behind several that serve the same model.

    Nothing is asked of a server before the first use; then, once, which models, window and slots it has. Of several
    servers each call gets the least busy one, if possible one that has seen the prompt's beginning before; a server
    that fails is left out and asked again later.

    Args:
        model: The served model's id; None or "" takes the one that is served.
        api_base: The server's address, with `/v1`, or a list of several.
        api_key: Sent as a bearer token; None sends none.
        is_chat_model: Whether to send messages (chat completions); else one text prompt (completions).
        is_function_calling_model: Whether tools may be sent.
        context_window: Tokens of prompt and answer together; None takes what the server serves.
        max_tokens: The most tokens an answer may have.
        temperature: 0 is repeatable; None leaves it to the server.
        top_p: The probability mass sampled from.
        seed: The sampler's seed.
        timeout: Limits in seconds; a number is the whole call's and also that of silence.
        max_retries: How often a request may be sent again.
        default_headers: Further headers of every request.
        additional_kwargs: Further fields of every request's body; None takes a field away.
        tokenizer: Counts tokens where the server cannot: an object with `encode`, a function from text to tokens, or
            the path of a `tokenizer.json`.
        strict: Whether a server is asked for its strict form of an output schema.
        transport: An httpx2 transport to use instead of the network, for tests.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        api_base: str | Sequence[str] = "http://127.0.0.1:8080/v1",
        api_key: str | None = None,
        is_chat_model: bool = True,
        is_function_calling_model: bool = False,
        context_window: int | None = None,
        max_tokens: int | None = None,
        temperature: float | None = 0.1,
        top_p: float | None = None,
        seed: int | None = None,
        timeout: float | Timeout = 600.0,
        max_retries: int = 3,
        default_headers: Mapping[str, str] | None = None,
        additional_kwargs: Mapping[str, Any] | None = None,
        tokenizer: Tokenizer | Callable[[str], Sequence[Any]] | str | Path | None = None,
        strict: bool = False,
        transport: Any = None,
    ) -> None:
        for name, value in (("context_window", context_window), ("max_tokens", max_tokens)):
            if value is not None and value < 1:
                raise InvalidOption(name, value, "1 or more tokens")
        addresses = [api_base] if isinstance(api_base, str) else list(dict.fromkeys(api_base))
        if not addresses:
            raise InvalidOption("api_base", api_base, "an address, or a list of at least one")
        self.model = model or None
        self.is_chat_model = is_chat_model
        self.is_function_calling_model = is_function_calling_model
        self.context_window = context_window
        self._max_tokens = max_tokens
        self._clients = [
            HTTPClient(
                address,
                api_key=api_key,
                timeout=timeout,
                max_retries=max_retries,
                default_headers=default_headers,
                transport=transport,
            )
            for address in addresses
        ]
        self._counts = TokenCounts(token_counter(tokenizer) if tokenizer is not None else None)
        self._backend = Backend(
            ServerPool(self._clients),
            self._counts,
            model=self.model,
            is_chat_model=is_chat_model,
            is_function_calling_model=is_function_calling_model,
            context_window=context_window,
            defaults=Sampling(max_tokens=max_tokens, temperature=temperature, top_p=top_p, seed=seed),
            extra=dict(additional_kwargs or {}),
            strict=strict,
        )

    @property
    def api_base(self) -> str:
        """The server's address, of several the first."""
        return self._clients[0].base

    @property
    def metadata(self) -> LLMMetadata:
        """What the server serves, asked once."""
        self._backend.ask()
        return self._metadata()

    async def ametadata(self) -> LLMMetadata:
        """Return what the server serves without blocking, asked once."""
        await self._backend.aask()
        return self._metadata()

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        """Yield the answer's `Delta`s and then one `Finish`; closing the generator cancels the request."""
        self._backend.ask()
        call = Call(self._backend, messages, sampling)
        while True:
            self._backend.probe()
            with call.attempt() as attempt:
                feed = attempt.reader.feed
                try:
                    with closing(attempt.client.stream(attempt.request)) as events:
                        for some in events:
                            for data in some:
                                yield from feed(data)
                    yield from attempt.reader.finish()
                except ServerError as error:
                    call.failed(error)  # raises, unless there is another server or another way
                else:
                    return

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        """Yield the answer's pieces without blocking; closing the generator cancels the request."""
        await self._backend.aask()
        call = Call(self._backend, messages, sampling)
        while True:
            await self._backend.aprobe()
            with call.attempt() as attempt:
                feed = attempt.reader.feed
                try:
                    async with aclosing(attempt.client.astream(attempt.request)) as events:
                        async for some in events:
                            for data in some:
                                for item in feed(data):
                                    yield item
                    for item in attempt.reader.finish():
                        yield item
                except ServerError as error:
                    call.failed(error)  # raises, unless there is another server or another way
                else:
                    return

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text as it stands inside a prompt, by the served model's own tokenizer."""
        return self._count(lambda server: self._backend.counting_texts(server, texts))

    async def acount_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text without blocking."""
        return await self._acount(lambda server: self._backend.counting_texts(server, texts))

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        """Return the tokens of each prompt as the server will count them, its chat template included."""
        return self._count(lambda server: self._backend.counting_prompts(server, prompts))

    async def acount_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        """Return the tokens of each prompt without blocking."""
        return await self._acount(lambda server: self._backend.counting_prompts(server, prompts))

    def close(self) -> None:
        """Close the connections of blocking calls."""
        for client in self._clients:
            client.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        for client in self._clients:
            await client.aclose()

    def _count(self, counting: Callable[[ModelServer], Exchange[list[int]]]) -> list[int]:
        self._backend.ask()
        for turn in self._backend.counting_turns():
            try:
                return turn.server.client.run(counting(turn.server), max_retries=turn.max_retries)
            except ServerError as error:
                self._backend.counting_failed(turn, error)  # raises, unless there is another server
        raise AssertionError("a server that is asked counts or fails")

    async def _acount(self, counting: Callable[[ModelServer], Exchange[list[int]]]) -> list[int]:
        await self._backend.aask()
        for turn in self._backend.counting_turns():
            try:
                return await turn.server.client.arun(counting(turn.server), max_retries=turn.max_retries)
            except ServerError as error:
                self._backend.counting_failed(turn, error)  # raises, unless there is another server
        raise AssertionError("a server that is asked counts or fails")

    def _metadata(self) -> LLMMetadata:
        served = self._backend.served()
        windows = [one.n_ctx for one in served if one.n_ctx is not None]
        return LLMMetadata(
            context_window=self.context_window or min(windows, default=DEFAULT_CONTEXT_WINDOW),
            num_output=self._max_tokens or DEFAULT_NUM_OUTPUT,
            model_name=self.model or served[0].model or "unknown",
            is_chat_model=self.is_chat_model,
            is_function_calling_model=self.is_function_calling_model,
            slots=sum(one.slots or 1 for one in served),
            prompt_speed=self._backend.speeds.prompt,
            output_speed=self._backend.speeds.output,
            exact_counts=all(self._counts.exact(one) for one in served),
            reasons=self._backend.reasoned or any(one.reasons for one in served),
            reasoning_switch=all(one.reasoning_switch for one in served),
        )
