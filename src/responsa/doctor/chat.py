"""Examining a server that answers: a few short questions, each for one row or two."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..http.client import HTTPClient
from ..http.messages import Exchange, Request
from ..llms.prompt_text import messages_to_prompt
from ..llms.request_body import messages_body
from ..llms.structured import PROMPT, way_body, ways_of
from ..schema.errors import ServerError
from ..schema.messages import ChatMessage
from .chat_checks import (
    check_json_schema,
    check_prompt_cache,
    check_reasoning,
    check_speed,
    check_streaming,
    check_window,
)
from .chat_seen import SCHEMA, ChatSeen
from .connection import aobserve_server, check_connection, check_model
from .finding import Finding
from .probing import Probing, StreamSeen
from .roles import observe_roles
from .servers import ChatServer, client_options
from .template_checks import check_chat_template, check_template_echo

# All probes of the chat model together: long enough for a small model on a busy machine.
DEFAULT_SECONDS: Final = 90.0
# The tokens asked for.
COUNTING_TOKENS, OBJECT_TOKENS, ECHO_TOKENS = 32, 32, 24

# The beginning that two prompts share, long enough for a cache to be worth keeping.
SHARED_BEGINNING: Final = (
    "You are being examined by the program that will ask you questions about documents. Follow the request of the "
    "user exactly and write nothing else: no greeting, no comment, no explanation, no heading and no list. The program "
    "looks only at how the text arrives, how fast it arrives, and whether the beginning of a prompt that was read "
    "before is read again. What you write is thrown away. Take no offence at questions that seem pointless; there are "
    "only a few of them, and every one of them is short. The number of this examination is {number}."
)
COUNT: Final = "Count from one to thirty in words, separated by commas."
SAY_YES: Final = "Say yes."
SENTENCE: Final = "Write one sentence about the sea."
ECHOED: Final = (ChatMessage("system", "Be short."), ChatMessage("user", "Name a colour."))


async def aexamine_chat_server(
    server: ChatServer,
    *,
    seconds: float = DEFAULT_SECONDS,
    transport: Any = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[Finding]:
    """Examine a server that answers; every row is there, also where it could not be looked at.

    Args:
        server: The server.
        seconds: The longest the examination may take.
        transport: An httpx2 transport to use instead of the network, for tests.
        clock: Tells the time, in seconds.
    """
    client = HTTPClient(server.api_base, **client_options(server, seconds, transport))
    try:
        seen = await _Examination(server, Probing(client, seconds, clock)).observe()
    finally:
        await client.aclose()
    return [
        *check_connection(seen.server, seen.answer),
        check_model(seen.server, answer=seen.answer),
        check_window(seen),
        check_chat_template(seen),
        check_template_echo(seen),
        check_reasoning(seen),
        check_json_schema(seen),
        check_streaming(seen),
        check_speed(seen),
        check_prompt_cache(seen),
    ]


class _Examination:
    """The probes of one server, in their order.

    Args:
        server: The server as it is configured.
        probing: Asks it.
    """

    def __init__(self, server: ChatServer, probing: Probing) -> None:
        self._server = server
        self._probing = probing
        self._client = probing.client

    async def observe(self) -> ChatSeen:
        """Ask what each row needs; what fails leaves out what builds on it."""
        server, probing = self._server, self._probing
        fields: Mapping[str, Any] | None = {} if server.is_chat_model else None
        said = await aobserve_server(probing, server.model, has_key=server.api_key is not None, template_fields=fields)
        seen = ChatSeen(said, server.context_window, server.is_chat_model)
        if isinstance(said.served, ServerError | None):
            return seen
        model = (None if said.unknown else server.model) or said.known.model or "default"
        if said.known.is_llama_server:
            seen.template = await probing.tried(lambda: self._client.arun(_template(self._client)))
        if server.is_chat_model:
            seen.roles = await probing.tried(lambda: self._client.arun(observe_roles(self._client, said.known, model)))
        beginning = SHARED_BEGINNING.replace("{number}", secrets.token_hex(4))
        folds = "system" in seen.refused_roles

        async def ask(question: str, tokens: int, extra: Mapping[str, Any] | None = None) -> StreamSeen:
            messages = [ChatMessage("system", beginning), ChatMessage("user", question)]
            if folds:
                messages = [ChatMessage("user", f"{beginning}\n\n{question}")]
            request = self._request(model, messages, tokens, server.is_chat_model, extra or {})
            return await probing.stream(request, reasoning_opened=said.known.opens_reasoning)

        seen.answer = await probing.tried(lambda: ask(COUNT, COUNTING_TOKENS))
        if not isinstance(seen.answer, StreamSeen):
            return seen
        seen.again = await probing.tried(lambda: ask(SAY_YES, 1))
        way = ways_of(said.known, is_chat_model=server.is_chat_model, is_function_calling_model=False)[0]
        if way != PROMPT:
            wanted = way_body(way, SCHEMA, served=said.known, strict=True)
            seen.schema = await probing.tried(lambda: ask(SENTENCE, OBJECT_TOKENS, wanted))
        echo = self._request(model, ECHOED, ECHO_TOKENS, False, {})
        seen.echo = await probing.tried(lambda: probing.stream(echo))
        return seen

    def _request(
        self, model: str, messages: Sequence[ChatMessage], tokens: int, as_chat: bool, extra: Mapping[str, Any]
    ) -> Request:
        prompt = {"messages": messages_body(messages)} if as_chat else {"prompt": messages_to_prompt(messages)}
        body = {
            "model": model,
            **prompt,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": tokens,
            "temperature": 0,
            **extra,
        }
        return self._client.post("/chat/completions" if as_chat else "/completions", body)


def _template(client: HTTPClient) -> Exchange[str]:
    """Return the text of the chat template a llama-server uses."""
    template = (yield client.get("//props")).object().get("chat_template")
    return template if isinstance(template, str) else ""
