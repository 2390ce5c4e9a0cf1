"""Token counts for one model: by its server's tokenizer, else a local one, else a safe estimate; each counted once."""

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
from ..tokens.estimate import TOKENS_A_MESSAGE, TOKENS_A_TEMPLATE, estimate_tokens
from ..tokens.estimate_correction import EstimateCorrection
from .counting import (
    count_specials_with_llama_server,
    count_with_llama_server,
    count_with_vllm,
    render_with_llama_server,
)
from .served import Served

logger = logging.getLogger("responsa.llms")


class TokenCounts:
    """Counts the tokens of one model, whichever of its servers is asked.

    Args:
        local: Counts with a tokenizer of the user's, or None.
    """

    def __init__(self, local: Callable[[str], int] | None) -> None:
        self._local = local
        self._texts = CountCache()
        self._prompts = CountCache(20_000)
        self._guesses = CountCache()
        self._correction = EstimateCorrection()
        self._specials: int | None = None
        self._refused = False

    def asks(self, served: Served) -> bool:
        """Say whether the server counts."""
        return (served.is_llama_server or served.is_vllm) and not self._refused

    def exact(self, served: Served) -> bool:
        """Say whether counts come from the model's own tokenizer."""
        return self.asks(served) or self._local is not None

    def learn(self, served: Served, messages: Sequence[ChatMessage], counted: int | None) -> None:
        """Correct the estimate by the tokens a server counted for a prompt."""
        if counted is not None and not self.exact(served):
            text = "".join(message.content for message in messages)
            self._correction.learn(text, self._guess(text), counted)

    def texts(self, client: HTTPClient, served: Served, model: str, texts: Sequence[str]) -> Exchange[list[int]]:
        """Count each text as it stands inside a prompt."""
        if self.asks(served):
            try:
                return (yield from _cached(self._texts, texts, lambda missing: _ask(client, served, model, missing)))
            except ServerError as error:
                self._refuse(client, error)
        return [self._alone(text) for text in texts]

    def bare_prompts(
        self, client: HTTPClient, served: Served, model: str, prompts: Sequence[str]
    ) -> Exchange[list[int]]:
        """Count each prompt that is sent as it is, without a chat template."""
        counts = yield from self.texts(client, served, model, prompts)
        specials = 1  # where it cannot be asked: one token that begins a text
        if served.is_llama_server and self.asks(served):
            specials = yield from self._count_specials(client)
        return [count + specials for count in counts]

    def chat_prompts(
        self,
        client: HTTPClient,
        served: Served,
        bodies: Sequence[Mapping[str, Any]],
        prompts: Sequence[Sequence[ChatMessage]],
    ) -> Exchange[list[int]]:
        """Count each prompt of messages with what the server's chat template makes of it."""
        if self.asks(served):
            keys = [json.dumps(body, ensure_ascii=False, sort_keys=True, default=str) for body in bodies]
            body_of = dict(zip(keys, bodies, strict=True))
            try:
                return (
                    yield from _cached(
                        self._prompts,
                        keys,
                        lambda missing: self._ask_chats(client, served, [body_of[key] for key in missing]),
                    )
                )
            except ServerError as error:
                self._refuse(client, error)
        return [
            TOKENS_A_TEMPLATE + sum(self._alone(message.content) + TOKENS_A_MESSAGE for message in messages)
            for messages in prompts
        ]

    def _ask_chats(
        self, client: HTTPClient, served: Served, bodies: Sequence[Mapping[str, Any]]
    ) -> Exchange[list[int]]:
        workers = served.slots or 1
        if not served.is_llama_server:
            return (yield from count_with_vllm(client, bodies, workers))
        rendered = yield from render_with_llama_server(client, bodies, workers)
        counts = yield from count_with_llama_server(client, rendered, workers)
        specials = yield from self._count_specials(client)
        return [count + specials for count in counts]

    def _count_specials(self, client: HTTPClient) -> Exchange[int]:
        if self._specials is None:
            (self._specials,) = yield from count_specials_with_llama_server(client)
        return self._specials

    def _refuse(self, client: HTTPClient, error: ServerError) -> None:
        """Count without the server from now on, if it is the endpoint that is missing or closed; else raise."""
        missing = isinstance(error, RequestRefused) and (error.status < 500 or error.status == 501)
        if not missing and not isinstance(error, ModelNotFound | AuthenticationFailed | BadResponse):
            raise error
        logger.warning("%s cannot count tokens; they are estimated from now on: %s", client.root, error)
        self._refused = True

    def _alone(self, text: str) -> int:
        if self._local is not None:
            return self._guess(text)
        return self._correction.apply(text, self._guess(text))

    def _guess(self, text: str) -> int:
        count = self._guesses.get(text)
        if count is None:
            count = self._local(text) if self._local is not None else estimate_tokens(text)
            self._guesses.keep([text], [count])
        return count


def _ask(client: HTTPClient, served: Served, model: str, texts: Sequence[str]) -> Exchange[list[int]]:
    workers = served.slots or 1
    if served.is_llama_server:
        return (yield from count_with_llama_server(client, texts, workers))
    bodies = [{"model": model, "prompt": text, "add_special_tokens": False} for text in texts]
    return (yield from count_with_vllm(client, bodies, workers))


def _cached(
    cache: CountCache, texts: Sequence[str], count: Callable[[Sequence[str]], Exchange[list[int]]]
) -> Exchange[list[int]]:
    kept = {text: found for text in texts if (found := cache.get(text)) is not None}
    missing = [text for text in dict.fromkeys(texts) if text not in kept]
    if missing:
        counts = yield from count(missing)
        cache.keep(missing, counts)
        kept.update(zip(missing, counts, strict=True))
    return [kept[text] for text in texts]
