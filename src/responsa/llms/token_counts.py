"""Token counts for one server: by its own tokenizer, else a local one, else a safe estimate; each asked once."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..http.client import HTTPClient
from ..http.messages import Exchange
from ..schema.errors import AuthenticationFailed, BadResponse, ModelNotFound, RequestRefused, ServerError
from ..schema.messages import ChatMessage
from ..tokens.count_cache import CountCache
from ..tokens.estimate import estimate_tokens
from .base import TOKENS_A_MESSAGE, TOKENS_A_TEMPLATE
from .counting import (
    count_specials_with_llama_server,
    count_with_llama_server,
    count_with_vllm,
    render_with_llama_server,
)
from .served import Served

logger = logging.getLogger("responsa.llms")


class TokenCounts:
    """Counts tokens for one server.

    Args:
        client: The server's client.
        local: Counts with a tokenizer of the user's, or None.
    """

    def __init__(self, client: HTTPClient, local: Callable[[str], int] | None) -> None:
        self._client = client
        self._local = local
        self._texts = CountCache()
        self._prompts = CountCache(20_000)
        self._specials: int | None = None
        self._refused = False

    def exact(self, served: Served) -> bool:
        """Say whether counts come from the model's own tokenizer."""
        return self._asks(served) or self._local is not None

    def texts(self, served: Served, model: str, texts: Sequence[str]) -> Exchange[list[int]]:
        """Count each text as it stands inside a prompt."""
        return (yield from self._cached(self._texts, texts, lambda missing: self._count(served, model, missing)))

    def bare_prompts(self, served: Served, model: str, prompts: Sequence[str]) -> Exchange[list[int]]:
        """Count each prompt that is sent as it is, without a chat template."""
        counts = yield from self.texts(served, model, prompts)
        specials = yield from self._count_specials(served)
        return [count + specials for count in counts]

    def chat_prompts(
        self, served: Served, bodies: Sequence[Mapping[str, Any]], prompts: Sequence[Sequence[ChatMessage]]
    ) -> Exchange[list[int]]:
        """Count each prompt of messages with what the server's chat template makes of it."""
        keys = [json.dumps(body, ensure_ascii=False, sort_keys=True, default=str) for body in bodies]
        places = {key: place for place, key in enumerate(keys)}

        def fresh(missing: Sequence[str]) -> Exchange[list[int]]:
            wanted = [places[key] for key in missing]
            return self._count_chats(served, [bodies[n] for n in wanted], [prompts[n] for n in wanted])

        return (yield from self._cached(self._prompts, keys, fresh))

    def _asks(self, served: Served) -> bool:
        return (served.is_llama_server or served.is_vllm) and not self._refused

    def _cached(
        self, cache: CountCache, texts: Sequence[str], count: Callable[[Sequence[str]], Exchange[list[int]]]
    ) -> Exchange[list[int]]:
        kept = {text: found for text in texts if (found := cache.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in kept]
        if missing:
            counts = yield from count(missing)
            cache.keep(missing, counts)
            kept.update(zip(missing, counts, strict=True))
        return [kept[text] for text in texts]

    def _count(self, served: Served, model: str, texts: Sequence[str]) -> Exchange[list[int]]:
        if self._asks(served):
            workers = served.slots or 1
            try:
                if served.is_llama_server:
                    return (yield from count_with_llama_server(self._client, texts, workers))
                bodies = [{"model": model, "prompt": text, "add_special_tokens": False} for text in texts]
                return (yield from count_with_vllm(self._client, bodies, workers))
            except ServerError as error:
                self._refuse(error)
        return [self._alone(text) for text in texts]

    def _count_chats(
        self, served: Served, bodies: Sequence[Mapping[str, Any]], prompts: Sequence[Sequence[ChatMessage]]
    ) -> Exchange[list[int]]:
        if self._asks(served):
            workers = served.slots or 1
            try:
                if served.is_llama_server:
                    rendered = yield from render_with_llama_server(self._client, bodies, workers)
                    counts = yield from count_with_llama_server(self._client, rendered, workers)
                    specials = yield from self._count_specials(served)
                    return [count + specials for count in counts]
                return (yield from count_with_vllm(self._client, bodies, workers))
            except ServerError as error:
                self._refuse(error)
        return [
            TOKENS_A_TEMPLATE + sum(self._alone(message.content) + TOKENS_A_MESSAGE for message in messages)
            for messages in prompts
        ]

    def _count_specials(self, served: Served) -> Exchange[int]:
        if self._specials is None and served.is_llama_server and self._asks(served):
            try:
                (self._specials,) = yield from count_specials_with_llama_server(self._client)
            except ServerError as error:
                self._refuse(error)
        # Where it cannot be asked: one token that begins a text.
        return 1 if self._specials is None else self._specials

    def _refuse(self, error: ServerError) -> None:
        """Count without the server from now on, if it is the endpoint that is missing or closed; else raise."""
        missing = isinstance(error, RequestRefused) and (error.status < 500 or error.status == 501)
        if not missing and not isinstance(error, ModelNotFound | AuthenticationFailed | BadResponse):
            raise error
        logger.warning("%s cannot count tokens; they are estimated from now on: %s", self._client.root, error)
        self._refused = True

    def _alone(self, text: str) -> int:
        return self._local(text) if self._local is not None else estimate_tokens(text)
