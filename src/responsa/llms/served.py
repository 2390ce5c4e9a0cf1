"""What a model server says of itself."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from ..http.client import HTTPClient
from ..http.messages import Reply, Request
from ..schema.errors import AuthenticationFailed, BadResponse, ModelNotFound, RequestRefused, ServerUnreachable

# A question about the server is answered at once or not at all, in seconds.
ASK_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Served:
    """What a server serves; None where it does not say.

    Args:
        model: The served model's id.
        ids: Every served id and alias.
        n_ctx: Tokens one slot has for prompt and answer.
        slots: Requests worked on at a time.
        is_llama_server: Whether it has llama-server's own endpoints.
        is_vllm: Whether it has vLLM's.
    """

    model: str | None = None
    ids: tuple[str, ...] = ()
    n_ctx: int | None = None
    slots: int | None = None
    is_llama_server: bool = False
    is_vllm: bool = False


Asking = Generator[Request, Reply, Served]


def ask_server(client: HTTPClient, model: str | None) -> Asking:
    """Ask a server what it serves; what it has no endpoint for stays unknown.

    Args:
        client: The server's client.
        model: The configured model, or None for whichever is served.

    Raises:
        ModelNotFound: The server lists its models and `model` is none of them.
    """
    entries = yield from _models(client)
    ids = tuple(dict.fromkeys(name for entry in entries for name in _names(entry)))
    entry = _chosen(entries, model)
    if model and ids and entry is None:
        raise ModelNotFound(client.url("/models"), model, ids)
    entry = entry or {}
    meta = entry.get("meta")
    n_ctx = _count(meta.get("n_ctx")) if isinstance(meta, dict) else None
    longest = _count(entry.get("max_model_len"))
    props = yield from _props(client)
    slots = _count(props.get("total_slots"))
    settings = props.get("default_generation_settings")
    if isinstance(settings, dict):
        n_ctx = _count(settings.get("n_ctx")) or n_ctx
    if props and (n_ctx is None or slots is None):
        found = yield from _slots(client)
        n_ctx = n_ctx or _count(found[0].get("n_ctx") if found else None)
        slots = slots or (len(found) or None)
    is_llama_server = bool(props) or entry.get("owned_by") == "llamacpp"
    served = entry.get("id")
    return Served(
        model=served if isinstance(served, str) else model,
        ids=ids,
        n_ctx=n_ctx or longest,
        slots=slots,
        is_llama_server=is_llama_server,
        is_vllm=longest is not None and not is_llama_server,
    )


def _models(client: HTTPClient) -> Generator[Request, Reply, list[dict[str, Any]]]:
    try:
        reply = yield client.get("/models", total=ASK_SECONDS)
    except (RequestRefused, ModelNotFound) as refused:
        if getattr(refused, "status", 404) in (404, 405, 501) and not client.base.endswith("/v1"):
            yield from _look_for_v1(client, refused)
        return []
    try:
        data = reply.object().get("data")
    except BadResponse:
        if not client.base.endswith("/v1"):
            yield from _look_for_v1(client, None)
        raise
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _look_for_v1(client: HTTPClient, cause: Exception | None) -> Generator[Request, Reply, None]:
    """Raise with a hint if the address lacks its `/v1`."""
    try:
        reply = yield Request("GET", client.base + "/v1/models", max_retries=0, total=ASK_SECONDS)
        found = isinstance(reply.object().get("data"), list)
    except (RequestRefused, ModelNotFound, AuthenticationFailed, BadResponse, ServerUnreachable):
        return
    if found:
        hint = f"/v1 is missing: use {client.base}/v1"
        raise ServerUnreachable(client.base, "no such endpoint", hint) from cause


def _props(client: HTTPClient) -> Generator[Request, Reply, dict[str, Any]]:
    try:
        return (yield client.get("//props", max_retries=0, total=ASK_SECONDS)).object()
    except (RequestRefused, ModelNotFound, AuthenticationFailed, BadResponse):
        return {}


def _slots(client: HTTPClient) -> Generator[Request, Reply, list[dict[str, Any]]]:
    try:
        value = (yield client.get("//slots", max_retries=0, total=ASK_SECONDS)).json()
    except (RequestRefused, ModelNotFound, AuthenticationFailed, BadResponse):
        return []
    return [slot for slot in value if isinstance(slot, dict)] if isinstance(value, list) else []


def _names(entry: dict[str, Any]) -> list[str]:
    aliases = entry.get("aliases")
    names = [entry.get("id"), *(aliases if isinstance(aliases, list) else [])]
    return [name for name in names if isinstance(name, str)]


def _chosen(entries: list[dict[str, Any]], model: str | None) -> dict[str, Any] | None:
    if not model:
        return entries[0] if entries else None
    # Ollama lists a model with its tag, and takes it without.
    return next((entry for entry in entries if {model, f"{model}:latest"} & set(_names(entry))), None)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
