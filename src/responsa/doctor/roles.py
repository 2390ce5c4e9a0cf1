"""Which roles of messages a server's chat template takes."""

from __future__ import annotations

from typing import Any, Final

from ..http.client import HTTPClient
from ..http.messages import Exchange
from ..llms.request_body import messages_body
from ..llms.served import Served
from ..schema.errors import RequestRefused
from ..schema.messages import ChatMessage
from .chat_seen import RolesSeen

# A word for each message, found again in the prompt it becomes.
CONVERSATION: Final = (
    ChatMessage("system", "quartz"),
    ChatMessage("user", "walnut"),
    ChatMessage("assistant", "harbour"),
    ChatMessage("user", "lantern"),
)
# What is left out of it, in turn, while the template refuses the rest.
LEFT_OUT: Final[tuple[frozenset[str], ...]] = (
    frozenset(),
    frozenset({"system"}),
    frozenset({"assistant"}),
    frozenset({"system", "assistant"}),
)
REFUSALS: Final = (400, 422, 500)


def observe_roles(client: HTTPClient, served: Served, model: str) -> Exchange[RolesSeen]:
    """Send a conversation, with fewer roles while it is refused.

    A llama-server shows the prompt it makes of it; of another server one token is asked.
    """
    message = ""
    for left_out in LEFT_OUT:
        messages = [one for one in CONVERSATION if one.role.value not in left_out]
        if "assistant" in left_out:
            messages = messages[:-1]
        try:
            prompt = yield from _prompt(client, served, {"model": model, "messages": messages_body(messages)})
        except RequestRefused as refused:
            if refused.status not in REFUSALS or left_out == LEFT_OUT[-1]:
                raise
            message = message or refused.message
            continue
        lost = () if prompt is None else tuple(one.role.value for one in messages if one.content not in prompt)
        return RolesSeen(tuple(sorted(left_out)), tuple(dict.fromkeys(lost)), message)
    raise AssertionError("unreachable")


def _prompt(client: HTTPClient, served: Served, body: dict[str, Any]) -> Exchange[str | None]:
    if not served.is_llama_server:
        yield client.post("/chat/completions", {**body, "max_tokens": 1, "temperature": 0})
        return None
    prompt = (yield client.post("//apply-template", body)).object().get("prompt")
    return prompt if isinstance(prompt, str) else None
