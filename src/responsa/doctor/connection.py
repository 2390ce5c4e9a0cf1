"""Whether a server can be used at all: reachable, loaded, at the right address, with the right key and model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..http.client import HTTPClient
from ..http.messages import Exchange
from ..llms.served import Served, ask_server
from ..schema.errors import (
    AuthenticationFailed,
    BadResponse,
    ModelNotFound,
    RateLimited,
    RequestRefused,
    ServerError,
    ServerLoading,
    ServerTimeout,
    ServerUnreachable,
)
from .finding import Finding, fault, not_checked, ok, warning
from .probing import Probing, Tried

NO_SUCH_ADDRESS = (404, 405)


@dataclass(frozen=True, slots=True)
class ServerSeen:
    """What a server said of itself.

    Args:
        base: Its address as it was given.
        model: The configured model's id, or None.
        has_key: Whether a key is sent.
        served: What it serves.
        unknown: Its answer to the configured model, where it does not list that.
    """

    base: str
    model: str | None
    has_key: bool
    served: Tried[Served]
    unknown: ModelNotFound | None = None

    @property
    def known(self) -> Served:
        """What it serves, as far as it is known."""
        return self.served if isinstance(self.served, Served) else Served()


async def aobserve_server(
    probing: Probing, model: str | None, *, has_key: bool, template_fields: Mapping[str, Any] | None
) -> ServerSeen:
    """Ask a server what it serves."""
    client = probing.client
    asked = await probing.tried(lambda: client.arun(_asking(client, model, template_fields)))
    if isinstance(asked, tuple):
        return ServerSeen(client.base, model, has_key, *asked)
    return ServerSeen(client.base, model, has_key, asked)


def _asking(
    client: HTTPClient, model: str | None, template_fields: Mapping[str, Any] | None
) -> Exchange[tuple[Served, ModelNotFound | None]]:
    try:
        return (yield from ask_server(client, model, template_fields)), None
    except ModelNotFound as unknown:
        return (yield from ask_server(client, None, template_fields)), unknown


def check_connection(seen: ServerSeen, answer: Tried[object]) -> list[Finding]:
    """Return the rows on reaching a server.

    Args:
        seen: What it said of itself.
        answer: What its main work gave: an answer, or a vector.
    """
    return [
        check_reachable(seen, answer),
        check_loading(seen, answer),
        check_address(seen, answer),
        check_key(seen, answer),
    ]


def check_reachable(seen: ServerSeen, answer: Tried[object]) -> Finding:
    """Say whether anything answers."""
    silent_on_models = isinstance(seen.served, Served) and not seen.served.ids
    match answer if silent_on_models else seen.served:
        case ServerUnreachable(hint="") as error:
            return fault("reachable", "unreachable", url=seen.base, reason=error.reason)
        case ServerTimeout() as error:
            return fault("reachable", "silent", url=seen.base, seconds=error.seconds)
        case RequestRefused() as error if error.status >= 500:
            return fault("reachable", "fails", url=seen.base, status=error.status, message=error.message)
        case RateLimited() as error:
            return warning("reachable", "rate_limited", url=seen.base, seconds=error.retry_after)
        case None if not silent_on_models:
            return not_checked("reachable")
    return ok("reachable", "answers", url=seen.base)


def check_loading(seen: ServerSeen, answer: Tried[object]) -> Finding:
    """Say whether the model is loaded."""
    if isinstance(seen.served, ServerLoading) or isinstance(answer, ServerLoading):
        return fault("loading", "loading")
    if isinstance(seen.served, Served):
        return ok("loading", "loaded")
    return not_checked("loading")


def check_address(seen: ServerSeen, answer: Tried[object]) -> Finding:
    """Say whether the address is the one an OpenAI-compatible server has."""
    match seen.served:
        case ServerUnreachable() as error if error.hint:
            return fault("address", "v1_missing", url=seen.base)
        case BadResponse() as error:
            return fault("address", "other_server", url=seen.base, reason=error.reason)
        case Served() if isinstance(answer, RequestRefused) and answer.status in NO_SUCH_ADDRESS:
            return fault("address", "no_such_address", url=answer.url, status=answer.status)
        case Served(is_llama_server=True) if not seen.base.endswith("/v1"):
            # Its root has older addresses of the same names, whose replies have another form.
            return warning("address", "v1_left_out", url=seen.base)
        case Served():
            return ok("address", "right_address", url=seen.base)
    return not_checked("address")


def check_key(seen: ServerSeen, answer: Tried[object]) -> Finding:
    """Say whether the key is accepted."""
    if isinstance(seen.served, AuthenticationFailed) or isinstance(answer, AuthenticationFailed):
        return fault("key", "key_refused" if seen.has_key else "key_missing")
    if answer is None or isinstance(answer, ServerError):
        return not_checked("key")
    return ok("key", "key_accepted" if seen.has_key else "no_key_needed")


def check_model(seen: ServerSeen, *, must_be_listed: bool = True, answer: Tried[object] = None) -> Finding:
    """Say whether the configured model is served.

    Args:
        seen: What the server said of itself.
        must_be_listed: Whether a model that is not listed cannot be used.
        answer: What its main work gave.
    """
    if not isinstance(seen.served, Served):
        return not_checked("model")
    ids = seen.served.ids
    if seen.unknown is not None:
        usable = not must_be_listed and answer is not None and not isinstance(answer, ServerError)
        make = warning if usable else fault
        return make("model", "model_not_listed", model=seen.model, served=ids)
    if isinstance(answer, ModelNotFound):
        return fault("model", "model_refused", model=answer.model)
    if not ids:
        return warning("model", "no_models_listed", model=seen.model)
    if seen.model is None and len(ids) > 1:
        return warning("model", "several_models", model=seen.served.model, served=ids)
    return ok("model", "model_served", model=seen.model or seen.served.model)
