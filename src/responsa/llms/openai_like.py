"""A model behind any OpenAI-compatible server: llama-server, vLLM, Ollama, LM Studio, hosted."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any, Final

from ..http.client import HTTPClient
from ..http.messages import Exchange, Request
from ..http.per_loop import PerLoop
from ..http.timeouts import Timeout
from ..schema.completions import LLMMetadata, Sampling, StreamItem
from ..schema.errors import InvalidOption, ServerError, WindowAboveServed
from ..schema.messages import ChatMessage
from .base import LLM
from .chunks import ChunkReader
from .local_tokenizer import Tokenizer, token_counter
from .prompt_text import messages_to_prompt
from .request_body import messages_body, sampling_body, schema_body, without_none
from .served import Served, ask_server
from .token_counts import TokenCounts

# What is assumed of a server that does not tell its window, and where none is configured.
DEFAULT_CONTEXT_WINDOW: Final = 4096
DEFAULT_NUM_OUTPUT: Final = 512


class OpenAILike(LLM):
    """A model behind an OpenAI-compatible server.

    Nothing is asked of the server before the first use; then, once, which models, window and slots it has.

    Args:
        model: The served model's id; None or "" takes the one that is served.
        api_base: The server's address, with `/v1`.
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
        strict: Whether a server is asked to follow an output schema to the letter.
        transport: An httpx2 transport to use instead of the network, for tests.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        api_base: str = "http://127.0.0.1:8080/v1",
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
        strict: bool = True,
        transport: Any = None,
    ) -> None:
        for name, value in (("context_window", context_window), ("max_tokens", max_tokens)):
            if value is not None and value < 1:
                raise InvalidOption(name, value, "1 or more tokens")
        self.model = model or None
        self.is_chat_model = is_chat_model
        self.is_function_calling_model = is_function_calling_model
        self.context_window = context_window
        self.strict = strict
        self._extra = dict(additional_kwargs or {})
        self._defaults = Sampling(max_tokens=max_tokens, temperature=temperature, top_p=top_p, seed=seed)
        self._client = HTTPClient(
            api_base,
            api_key=api_key,
            timeout=timeout,
            max_retries=max_retries,
            default_headers=default_headers,
            transport=transport,
        )
        self._counts = TokenCounts(self._client, token_counter(tokenizer) if tokenizer is not None else None)
        self._served: Served | None = None
        self._asking = threading.Lock()
        self._asking_async: PerLoop[asyncio.Lock] = PerLoop(asyncio.Lock, _nothing_to_close)

    @property
    def api_base(self) -> str:
        """The server's address."""
        return self._client.base

    @property
    def metadata(self) -> LLMMetadata:
        """What the server serves, asked once."""
        return self._metadata(self._ask())

    async def ametadata(self) -> LLMMetadata:
        """Return what the server serves without blocking, asked once."""
        return self._metadata(await self._aask())

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        """Yield the answer's `Delta`s and then one `Finish`; closing the generator cancels the request."""
        request = self._request(self._ask(), messages, sampling)
        reader = ChunkReader(request.url)
        try:
            with closing(self._client.stream(request)) as events:
                for some in events:
                    for data in some:
                        yield from reader.feed(data)
            yield from reader.finish()
        except ServerError as error:
            raise reader.broken(error) from error.__cause__

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        """Yield the answer's pieces without blocking; closing the generator cancels the request."""
        request = self._request(await self._aask(), messages, sampling)
        reader = ChunkReader(request.url)
        try:
            async with aclosing(self._client.astream(request)) as events:
                async for some in events:
                    for data in some:
                        for item in reader.feed(data):
                            yield item
            for item in reader.finish():
                yield item
        except ServerError as error:
            raise reader.broken(error) from error.__cause__

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text as it stands inside a prompt, by the served model's own tokenizer."""
        return self._client.run(self._count_texts(self._ask(), texts))

    async def acount_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text without blocking."""
        return await self._client.arun(self._count_texts(await self._aask(), texts))

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        """Return the tokens of each prompt as the server will count them, its chat template included."""
        return self._client.run(self._count_messages(self._ask(), prompts))

    async def acount_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        """Return the tokens of each prompt without blocking."""
        return await self._client.arun(self._count_messages(await self._aask(), prompts))

    def close(self) -> None:
        """Close the connections of blocking calls."""
        self._client.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._client.aclose()

    def _ask(self) -> Served:
        with self._asking:
            if self._served is None:
                self._served = self._checked(self._client.run(ask_server(self._client, self.model)))
            return self._served

    async def _aask(self) -> Served:
        if self._served is None:
            async with await self._asking_async.get():
                if self._served is None:
                    self._served = self._checked(await self._client.arun(ask_server(self._client, self.model)))
        return self._served

    def _checked(self, served: Served) -> Served:
        if self.context_window is not None and served.n_ctx is not None and self.context_window > served.n_ctx:
            raise WindowAboveServed(self.context_window, served.n_ctx)
        return served

    def _metadata(self, served: Served) -> LLMMetadata:
        window = self.context_window or served.n_ctx or DEFAULT_CONTEXT_WINDOW
        return LLMMetadata(
            context_window=window,
            num_output=self._defaults.max_tokens or DEFAULT_NUM_OUTPUT,
            model_name=self.model or served.model or "unknown",
            is_chat_model=self.is_chat_model,
            is_function_calling_model=self.is_function_calling_model,
            slots=served.slots or 1,
            exact_counts=self._counts.exact(served),
        )

    def _request(self, served: Served, messages: Sequence[ChatMessage], sampling: Sampling) -> Request:
        body: dict[str, Any] = {
            **self._prompt_body(served, messages),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if sampling.output_schema is not None:
            body.update(schema_body(sampling.output_schema, self.strict))
        body.update(sampling_body(sampling, self._defaults))
        body.update(self._extra)
        body.update(sampling.extra)
        return self._client.post("/chat/completions" if self.is_chat_model else "/completions", without_none(body))

    def _prompt_body(self, served: Served, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        model = self.model or served.model or "default"
        if self.is_chat_model:
            return {"model": model, "messages": messages_body(messages)}
        return {"model": model, "prompt": messages_to_prompt(messages)}

    def _count_texts(self, served: Served, texts: Sequence[str]) -> Exchange[list[int]]:
        return self._counts.texts(served, self._prompt_model(served), texts)

    def _count_messages(self, served: Served, prompts: Sequence[Sequence[ChatMessage]]) -> Exchange[list[int]]:
        if not self.is_chat_model:
            return self._counts.bare_prompts(
                served, self._prompt_model(served), [messages_to_prompt(messages) for messages in prompts]
            )
        template_fields = {name: self._extra[name] for name in ("chat_template_kwargs", "tools") if name in self._extra}
        bodies = [{**self._prompt_body(served, messages), **template_fields} for messages in prompts]
        return self._counts.chat_prompts(served, bodies, prompts)

    def _prompt_model(self, served: Served) -> str:
        return self.model or served.model or "default"


async def _nothing_to_close(_: asyncio.Lock) -> None:
    """A lock holds nothing."""
