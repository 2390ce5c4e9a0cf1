"""Recognising "the prompt is too long" in the wording of every server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from .messages import LARGEST_COUNT

# Each pattern names the window (n_ctx) and, where the server tells it, the prompt's tokens (n_prompt).
_PATTERNS: Final[tuple[re.Pattern[str], ...]] = tuple(
    re.compile(pattern.replace(">N)", r">\d[\d,]*)"), re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"request \((?P<n_prompt>N) tokens\) exceeds the available context size \((?P<n_ctx>N) tokens\)",
        r"maximum context length (?:is|of) (?P<n_ctx>N) tokens?.*?\((?P<n_prompt>N) (?:in|from) the (?:message|prompt)",
        r"maximum context length of (?P<n_ctx>N) tokens?.*?(?P<n_prompt>N) tokens from the input",
        r"maximum context length is (?P<n_ctx>N) tokens? and your request has (?P<n_prompt>N) input tokens",
        r"maximum context length is (?P<n_ctx>N) tokens?.*?prompt contains (?:at least )?(?P<n_prompt>N)",
        r"maximum context length is (?P<n_ctx>N) tokens?.*?(?:resulted in|requested|contains?) (?P<n_prompt>N)",
        r"prompt \((?:total )?length (?P<n_prompt>N)\) is longer than the maximum \w+ length of (?P<n_ctx>N)",
        r"input \((?P<n_prompt>N) tokens\) is longer than the model'?s context length \((?P<n_ctx>N) tokens\)",
        r"n_keep: ?(?P<n_prompt>N) ?>=? ?n_ctx: ?(?P<n_ctx>N)",
        r"keep the first (?P<n_prompt>N) tokens when context .*?context length of only (?P<n_ctx>N)",
        r"Requested tokens \((?P<n_prompt>N)\) exceed context window of (?P<n_ctx>N)",
        r"must be <= (?P<n_ctx>N)\. Given: (?P<n_prompt>N)",
        r"prompt is too long: (?P<n_prompt>N) tokens > (?P<n_ctx>N) maximum",
        r"prompt contains (?P<n_prompt>N) tokens.*?model with (?P<n_ctx>N) maximum context length",
        r"exceeds? the (?:model'?s )?(?:available |maximum )?(?:context (?:size|length|window)|maximum context)",
        r"maximum context length (?:is|of) (?P<n_ctx>N)",
        r"context[_ ]length[_ ]exceeded|input length exceeds|context window (?:is )?(?:exceeded|full)",
    )
)

_CODES: Final = frozenset({"exceed_context_size_error", "context_length_exceeded"})
_INPUT_TOO_LARGE: Final = re.compile(
    r"input.{0,40}(?:too (?:large|long)|larger than the max)"
    r"|physical batch size|exceeds? the maximum (?:input|sequence) length",
    re.IGNORECASE | re.DOTALL,
)


def _number(text: str | None) -> int | None:
    return _count(int(text.replace(",", ""))) if text else None


def _field(error: Mapping[str, Any], name: str) -> int | None:
    return _count(error.get(name))


def _count(value: Any) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value <= LARGEST_COUNT else None


def window_overrun(error: Mapping[str, Any], message: str) -> tuple[int | None, int | None] | None:
    """Return (prompt tokens, window) if a server's error says the prompt is too long, else None.

    Args:
        error: The error object of the reply.
        message: Its text.
    """
    numbers = _field(error, "n_prompt_tokens"), _field(error, "n_ctx")
    for pattern in _PATTERNS:
        if match := pattern.search(message):
            groups = match.groupdict()
            return numbers[0] or _number(groups.get("n_prompt")), numbers[1] or _number(groups.get("n_ctx"))
    if error.get("type") in _CODES or error.get("code") in _CODES:
        return numbers
    return None


def is_input_too_large(message: str) -> bool:
    """Say whether an embedding server refuses a text for its length."""
    return bool(_INPUT_TOO_LARGE.search(message))
