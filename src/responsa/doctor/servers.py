"""The servers to examine, as their user has set them up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..http.timeouts import Timeout


@dataclass(frozen=True, slots=True)
class ChatServer:
    """A server that answers.

    Args:
        api_base: Its address, with `/v1`.
        model: The served model's id; None takes the one that is served.
        api_key: Sent as a bearer token; None sends none.
        context_window: The configured window, in tokens; None takes what is served.
        is_chat_model: Whether it is asked with messages, else with one prompt.
        default_headers: Further headers of every request.
    """

    api_base: str
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    context_window: int | None = None
    is_chat_model: bool = True
    default_headers: Mapping[str, str] | None = field(default=None, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class EmbeddingServer:
    """A server that embeds.

    Args:
        api_base: Its address, with `/v1`.
        model_name: The served model's id; None takes the one that is served.
        api_key: Sent as a bearer token; None sends none.
        dimensions: The numbers a vector is asked to have; None asks for nothing.
        query_prefix: Put before every query.
        text_prefix: Put before every passage.
        query_kwargs: Further fields of the body for queries.
        text_kwargs: Further fields of the body for passages.
        default_headers: Further headers of every request.
    """

    api_base: str
    model_name: str | None = None
    api_key: str | None = field(default=None, repr=False)
    dimensions: int | None = None
    query_prefix: str = ""
    text_prefix: str = ""
    query_kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    text_kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    default_headers: Mapping[str, str] | None = field(default=None, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What an index remembers of the model it was built with.

    Args:
        embed_model: The model's name.
        dimensions: The numbers of a vector.
    """

    embed_model: str
    dimensions: int


def client_options(server: ChatServer | EmbeddingServer, seconds: float, transport: Any) -> dict[str, Any]:
    """Return the options of a client that examines a server: nothing is tried twice, and nothing outlives its time."""
    # A llama-server ends a connection after each streamed reply without saying so; nothing is tried again here.
    apart = {} if server.api_base.startswith("https:") else {"Connection": "close"}
    return {
        "api_key": server.api_key,
        "timeout": Timeout(total=seconds, silence=seconds, connect=min(seconds, Timeout().connect)),
        "max_retries": 0,
        "default_headers": {**apart, **(server.default_headers or {})},
        "transport": transport,
    }
