"""What a model server says of itself."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ..http.client import HTTPClient
from ..http.messages import LARGEST_COUNT, Reply, Request
from ..http.missing_v1 import ASK_SECONDS, raise_if_v1_is_missing
from ..schema.errors import AuthenticationFailed, BadResponse, ModelNotFound, RequestRefused
from .reasoning import OPENING_TAG

# What a chat template says of a model that reasons.
_SWITCH: Final = "enable_thinking"
_REASONING_SIGNS: Final = (OPENING_TAG, _SWITCH, "reasoning_effort")
# What a server answers that has no such endpoint, or keeps it closed.
_NO_ENDPOINT: Final = (RequestRefused, ModelNotFound, AuthenticationFailed, BadResponse)
# Ids are shown to people: so many are kept, and none that is longer, in characters.
_MOST_IDS: Final = 100
_LONGEST_ID: Final = 500


@dataclass(frozen=True, slots=True)
class Served:
    """What a server serves; None where it does not say.

    Args:
        model: The served model's id.
        ids: The served ids and aliases, the first of them where there are very many.
        n_ctx: Tokens one slot has for prompt and answer.
        slots: Requests worked on at a time.
        is_llama_server: Whether it has llama-server's own endpoints.
        is_vllm: Whether it has vLLM's.
        opens_reasoning: Whether its chat template ends with an open reasoning tag, so that answers begin inside it.
        reasons: Whether its chat template is one of a model that reasons.
        reasoning_switch: Whether its chat template can be told whether to (`enable_thinking`).
    """

    model: str | None = None
    ids: tuple[str, ...] = ()
    n_ctx: int | None = None
    slots: int | None = None
    is_llama_server: bool = False
    is_vllm: bool = False
    opens_reasoning: bool = False
    reasons: bool = False
    reasoning_switch: bool = False


Asking: TypeAlias = Generator[Request, Reply, Served]


def ask_server(
    client: HTTPClient, model: str | None, template_fields: Mapping[str, Any] | None, *, max_retries: int | None = None
) -> Asking:
    """Ask a server what it serves; what it has no endpoint for stays unknown.

    Args:
        client: The server's client.
        model: The configured model, or None for whichever is served.
        template_fields: Fields of every request that its chat template reads; None asks nothing of the template.
        max_retries: Overrides the client's number of retries.

    Raises:
        ModelNotFound: The server lists its models and `model` is none of them.
    """
    entries = yield from _models(client, max_retries)
    ids = tuple(dict.fromkeys(name for entry in entries for name in _names(entry)))[:_MOST_IDS]
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
    is_vllm = longest is not None and not is_llama_server
    served = next(iter(_names(entry)), model)
    opens = False
    if template_fields is not None and (is_llama_server or is_vllm):
        body = {"model": model or served, "messages": [{"role": "user", "content": "?"}], **template_fields}
        opens = yield from _opens_reasoning(client, body, is_llama_server)
    template = str(props.get("chat_template") or "")
    return Served(
        served,
        ids,
        n_ctx or longest,
        slots,
        is_llama_server=is_llama_server,
        is_vllm=is_vllm,
        opens_reasoning=opens,
        reasons=opens or any(sign in template for sign in _REASONING_SIGNS),
        reasoning_switch=_SWITCH in template,
    )


def _models(client: HTTPClient, max_retries: int | None) -> Generator[Request, Reply, list[dict[str, Any]]]:
    try:
        data = (yield client.get("/models", max_retries=max_retries, total=ASK_SECONDS)).object().get("data")
    except (RequestRefused, ModelNotFound) as refused:
        yield from raise_if_v1_is_missing(client, refused)
        return []
    except BadResponse as nonsense:
        yield from raise_if_v1_is_missing(client, nonsense)
        raise
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _props(client: HTTPClient) -> Generator[Request, Reply, dict[str, Any]]:
    try:
        return (yield client.get("//props", max_retries=0, total=ASK_SECONDS)).object()
    except _NO_ENDPOINT:
        return {}


def _slots(client: HTTPClient) -> Generator[Request, Reply, list[dict[str, Any]]]:
    try:
        value = (yield client.get("//slots", max_retries=0, total=ASK_SECONDS)).json()
    except _NO_ENDPOINT:
        return []
    return [slot for slot in value if isinstance(slot, dict)] if isinstance(value, list) else []


def _opens_reasoning(
    client: HTTPClient, body: Mapping[str, Any], is_llama_server: bool
) -> Generator[Request, Reply, bool]:
    path = "//apply-template" if is_llama_server else "//tokenize"
    extra = {} if is_llama_server else {"add_generation_prompt": True, "return_token_strs": True}
    try:
        reply = (yield client.post(path, {**body, **extra}, max_retries=0, total=ASK_SECONDS)).object()
    except _NO_ENDPOINT:
        return False
    pieces = reply.get("token_strs")
    prompt = reply.get("prompt") if is_llama_server else "".join(map(str, pieces)) if isinstance(pieces, list) else ""
    # Token strings write a line break in their own way: only what stands before it is looked at.
    return isinstance(prompt, str) and prompt[-16:].rstrip("\n\u010a \u0120").endswith(OPENING_TAG)


def _names(entry: dict[str, Any]) -> list[str]:
    aliases = entry.get("aliases")
    names = [entry.get("id"), *(aliases if isinstance(aliases, list) else [])]
    return [name for name in names if isinstance(name, str) and len(name) <= _LONGEST_ID]


def _chosen(entries: list[dict[str, Any]], model: str | None) -> dict[str, Any] | None:
    if not model:
        return entries[0] if entries else None
    # Ollama lists a model with its tag, and takes it without.
    return next((entry for entry in entries if {model, f"{model}:latest"} & set(_names(entry))), None)


def _count(value: Any) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 < value <= LARGEST_COUNT else None
