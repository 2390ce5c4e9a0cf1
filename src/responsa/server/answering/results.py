"""A response, a plan and their parts as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from responsa.schema.calls import CallRecord
from responsa.schema.completions import Completion
from responsa.schema.nodes import NodeWithScore
from responsa.schema.notices import Notice
from responsa.schema.plans import Plan
from responsa.schema.response import AnswerItem, Response

from ..errors import error_body
from .hits import citation_json, hits_of


def response_json(
    response: Response, related: Sequence[NodeWithScore], *, language: str, prompts: bool
) -> dict[str, Any]:
    """Return a response as JSON values.

    Args:
        response: The response.
        related: Passages that were found and not used.
        language: The language of messages.
        prompts: Whether to show each call's messages.
    """
    sources = response.source_nodes
    citations = response.citations
    return {
        "outcome": response.outcome.value,
        "searched_with": response.searched_with,
        "language": response.language,
        "answer": response.text,
        "placeholder": response.placeholder,
        "grounded": response.grounded,
        "reasoning": response.reasoning,
        "value": _value(response.value),
        "items": [_item(item, language) for item in response.items],
        "hits": hits_of(sources, coverage=response.coverage, citations=citations),
        "related": hits_of(related, first=len(sources) + 1),
        "citations": [citation_json(citation) for citation in citations],
        "warnings": [warning_json(notice, language) for notice in response.warnings],
        "usage": asdict(response.usage),
        "trace": [_call(record, language, prompts=prompts) for record in response.trace],
    }


def plan_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON values."""
    return {
        "exact": plan.exact,
        "prompt_tokens": plan.prompt_tokens,
        "max_tokens": plan.max_tokens,
        "seconds": _rounded(plan.seconds),
        "seconds_to_first_word": _rounded(plan.seconds_to_first_word),
        "calls": [
            {
                "stage": call.stage,
                "prompt_tokens": call.prompt_tokens,
                "max_tokens": call.max_tokens,
                "hits": list(call.passages),
                "wave": call.wave,
            }
            for call in plan.calls
        ],
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)


def warning_json(notice: Notice, language: str) -> dict[str, Any]:
    """Return a warning as JSON values."""
    return {"code": notice.code, "message": notice.render(language), "details": notice.details}


def completion_json(completion: Completion | None) -> dict[str, Any]:
    """Return how a call ended as JSON values."""
    return {
        "finish_reason": completion and completion.finish_reason,
        "usage": completion and asdict(completion.usage),
        "timings": completion and asdict(completion.timings),
    }


def _value(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


def _item(item: AnswerItem, language: str) -> dict[str, Any]:
    return {
        "number": item.index + 1,
        "answer": item.text,
        "value": _value(item.value),
        "hits": list(item.numbers),
        "error": error_body(item.error, language) if item.error is not None else None,
    }


def _call(record: CallRecord, language: str, *, prompts: bool) -> dict[str, Any]:
    call = record.call
    messages = [{"role": message.role.value, "content": message.content} for message in call.messages]
    return {
        "call": record.number,
        "stage": call.stage,
        "prompt_tokens": call.prompt_tokens,
        "max_tokens": call.sampling.max_tokens,
        "hits": sorted({span.number for span in call.spans}),
        **completion_json(record.completion),
        "error": error_body(record.error, language) if record.error is not None else None,
        "messages": messages if prompts else None,
    }
