"""Rows on what a server's answers are like."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from ..llms.openai_like import DEFAULT_CONTEXT_WINDOW
from ..llms.speeds import output_speed, prompt_speed
from ..llms.structured import PROMPT, ways_of
from ..schema.errors import RequestRefused, ServerError, ServerTimeout
from ..schema.excerpts import excerpt
from .chat_seen import COLOURS, ChatSeen
from .finding import Finding, fault, not_checked, ok, warning
from .probing import IN_TEXT, StreamSeen, Tried

# The most characters of an answer that a row shows.
SHOWN_CHARACTERS: Final = 80
# Below this a slot has little room for passages, in tokens.
SMALL_WINDOW: Final = 2048
# A server that keeps an answer back sends its pieces within this share of the time that the answer took.
BURST: Final = 0.02
# With fewer pieces nothing can be said of how they came.
FEWEST_PIECES: Final = 3
# Fewer tokens a second are slower than a person reads.
SLOW: Final = 3.0


def check_window(seen: ChatSeen) -> Finding:
    """Compare the configured window with the served one."""
    served = seen.server.served
    if served is None or isinstance(served, ServerError):
        return not_checked("window")
    n_ctx, asked = served.n_ctx, seen.window
    if n_ctx is None:
        if asked is not None:
            return ok("window", "window_as_set", asked=asked)
        return warning("window", "window_unknown", assumed=DEFAULT_CONTEXT_WINDOW)
    if asked is not None and asked > n_ctx:
        return fault("window", "window_above_served", asked=asked, n_ctx=n_ctx)
    if n_ctx < SMALL_WINDOW:
        return warning("window", "window_small", n_ctx=n_ctx, slots=served.slots, wanted=SMALL_WINDOW)
    if asked is not None and asked < n_ctx:
        return ok("window", "window_below_served", asked=asked, n_ctx=n_ctx, slots=served.slots)
    return ok("window", "window_served", n_ctx=n_ctx, slots=served.slots)


def check_reasoning(seen: ChatSeen) -> Finding:
    """Say where the model's reasoning comes, if it reasons."""
    answer = seen.answer
    if not isinstance(answer, StreamSeen):
        return not_checked("reasoning")
    if not answer.reasoning:
        return ok("reasoning", "no_reasoning")
    if not answer.text:
        return ok("reasoning", "reasoning_long", field=answer.reasoning_field)
    if answer.reasoning_field == IN_TEXT:
        return ok("reasoning", "reasoning_in_text")
    return ok("reasoning", "reasoning_apart", field=answer.reasoning_field)


def check_json_schema(seen: ChatSeen) -> Finding:
    """Say whether the server holds the model to a JSON schema."""
    if not isinstance(seen.answer, StreamSeen):
        return not_checked("json_schema")
    if ways_of(seen.server.known, is_chat_model=seen.is_chat_model, is_function_calling_model=False)[0] == PROMPT:
        return warning("json_schema", "schema_impossible")
    match seen.schema:
        case RequestRefused() as error:
            return warning("json_schema", "schema_refused", message=error.message)
        case StreamSeen() as answer if _follows(answer):
            return ok("json_schema", "schema_enforced")
        case StreamSeen(text=""):
            return not_checked("json_schema", "schema_undecided")
        case StreamSeen() as answer:
            return warning("json_schema", "schema_ignored", text=excerpt(answer.text, SHOWN_CHARACTERS))
    return _unanswered("json_schema", seen.schema)


def check_streaming(seen: ChatSeen) -> Finding:
    """Say whether an answer comes as it is written."""
    answer = seen.answer
    if not isinstance(answer, StreamSeen):
        return not_checked("streaming") if answer is None else fault("streaming", "no_answer", error=answer)
    tokens = answer.finish.usage.completion_tokens or len(answer.arrivals)
    if not answer.arrivals:
        return fault("streaming", "empty_answer")
    if tokens < FEWEST_PIECES:
        return not_checked("streaming", "answer_too_short", tokens=tokens)
    first, last = answer.arrivals[0], answer.arrivals[-1]
    if last - first <= BURST * last:
        return warning("streaming", "in_one_piece", seconds=last)
    return ok("streaming", "incremental", reads=len(answer.arrivals), seconds=last - first)


def check_speed(seen: ChatSeen) -> Finding:
    """Say how long the first token took and how fast the others came."""
    answer = seen.answer
    if not isinstance(answer, StreamSeen) or not answer.arrivals:
        return not_checked("speed")
    read, written = prompt_speed(answer.finish), _output_speed(answer)
    make, code = (warning, "slow") if written is not None and written < SLOW else (ok, "speed")
    return make("speed", code, first=answer.arrivals[0], read=read, written=written)


def check_prompt_cache(seen: ChatSeen) -> Finding:
    """Say whether the beginning that two prompts share was read once."""
    if not isinstance(seen.again, StreamSeen):
        return _unanswered("prompt_cache", seen.again)
    usage = seen.again.finish.usage
    if usage.cached_tokens is None or not usage.prompt_tokens:
        return not_checked("prompt_cache", "cache_untold")
    if 2 * usage.cached_tokens >= usage.prompt_tokens:
        return ok("prompt_cache", "cache_hit", cached=usage.cached_tokens, tokens=usage.prompt_tokens)
    return warning("prompt_cache", "cache_missed", cached=usage.cached_tokens, tokens=usage.prompt_tokens)


def _output_speed(answer: StreamSeen) -> float | None:
    """Return the tokens written a second: by the server's own figures, else by when the pieces came."""
    usage, arrivals = answer.finish.usage, answer.arrivals
    told = replace(usage, completion_tokens=usage.completion_tokens or len(arrivals))
    return output_speed(replace(answer.finish, usage=told), arrivals[-1] - arrivals[0])


def _follows(answer: StreamSeen) -> bool:
    """Tell whether an answer is the object asked for, or its beginning where it was cut."""
    if answer.finish.reason == "length":
        return "".join(answer.text.split()).startswith('{"colour"')
    try:
        value: Any = json.loads(answer.text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and set(value) == {"colour"} and value["colour"] in COLOURS


def _unanswered(name: str, tried: Tried[StreamSeen]) -> Finding:
    if isinstance(tried, ServerTimeout):
        return warning(name, "time_up", seconds=tried.seconds)
    return not_checked(name) if tried is None else warning(name, "probe_failed", error=tried)
