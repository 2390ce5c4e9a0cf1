"""Rows on the chat template: whether there is a right one, and what becomes of messages without it."""

from __future__ import annotations

import re
from typing import Final

from ..schema.errors import RequestRefused, ServerError, ServerTimeout
from ..schema.excerpts import excerpt
from .chat_checks import SHOWN_CHARACTERS
from .chat_seen import ChatSeen, RolesSeen
from .finding import Finding, fault, not_checked, ok, warning
from .probing import StreamSeen
from .roles import REFUSALS

# Marks that chat templates put around messages: in an answer they show that the template is not the model's own.
MARKS: Final = re.compile(
    r"<\|im_(?:start|end)\|>|<\|(?:eot_id|end|user|assistant|system)\|>|</?s>|\[/?INST\]|<end_of_turn>"
)
# How a prompt of messages written out as text names the speakers.
SPEAKERS: Final = re.compile(r"(?:^|\n)\s*(?:system|user|assistant):", re.IGNORECASE)


def check_chat_template(seen: ChatSeen) -> Finding:
    """Say whether messages reach the model in the form it was trained on."""
    if seen.template == "":
        return warning("chat_template", "no_template")
    if isinstance(seen.answer, StreamSeen) and (mark := MARKS.search(seen.answer.text)):
        return warning("chat_template", "wrong_template", mark=mark[0])
    match seen.roles:
        case RolesSeen(refused=()) as roles if not roles.lost:
            return ok("chat_template", "roles_accepted")
        case RolesSeen(refused=()) as roles:
            return warning("chat_template", "roles_lost", roles=roles.lost)
        case RolesSeen() as roles:
            return warning("chat_template", "roles_refused", roles=roles.refused, message=roles.message)
        case RequestRefused() as error if error.status in REFUSALS:
            return fault("chat_template", "messages_refused", message=error.message)
        case ServerTimeout() as error:
            return warning("chat_template", "time_up", seconds=error.seconds)
        case ServerError() as error:
            return not_checked("chat_template", "probe_failed", error=error)
    if isinstance(seen.template, str) and not seen.is_chat_model:
        return ok("chat_template", "template_unused")
    return not_checked("chat_template")


def check_template_echo(seen: ChatSeen) -> Finding:
    """Show what the model writes when messages come as one plain text, as with `is_chat_model=False`."""
    match seen.echo:
        case StreamSeen() as echo:
            text = excerpt(echo.text, SHOWN_CHARACTERS)
        case RequestRefused() as error if seen.is_chat_model:
            return ok("template_echo", "no_completions", status=error.status)
        case ServerTimeout() as error:
            return warning("template_echo", "time_up", seconds=error.seconds)
        case ServerError() as error:
            return not_checked("template_echo", "probe_failed", error=error)
        case None:
            return not_checked("template_echo")
    echoes = bool(SPEAKERS.search(echo.text) or MARKS.search(echo.text))
    if seen.is_chat_model:
        return ok("template_echo", "echo_if_completed" if echoes else "no_echo_if_completed", text=text)
    if echoes or seen.template:
        return warning("template_echo", "echo", text=text)
    return ok("template_echo", "no_echo", text=text)
