"""Answers and plans as one JSON document."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from responsa.schema.calls import CallRecord
from responsa.schema.errors import ResponsaError
from responsa.schema.events import Done, Event, PlanMade
from responsa.schema.nodes import NodeWithScore
from responsa.schema.notices import Notice
from responsa.schema.plans import Plan
from responsa.schema.response import AnswerItem, Response

# Control and direction characters that JSON lets stand, and halves of characters, which no encoding has.
_OBEYED: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class JsonView:
    """Waits for the end of an answer and then prints all of it.

    Args:
        question: The question.
        mode: How the answer is made.
        language: The language of the messages in it.
    """

    def __init__(self, question: str, mode: str, language: str) -> None:
        self._head = {"question": question, "mode": mode}
        self._language = language
        self._plan = Plan(())

    def show(self, event: Event) -> None:
        """Take one event; the last prints the document."""
        if isinstance(event, PlanMade):
            self._plan = event.plan
        elif isinstance(event, Done):
            write({**self._head, **_response(event.response, self._language), "plan": plan(self._plan)})

    def close(self) -> None:
        """An answer that did not end prints nothing of itself."""


def write(document: Mapping[str, Any]) -> None:
    """Print a JSON document to standard output, in its encoding; what a terminal would obey is written as escapes."""
    text = json.dumps(document, ensure_ascii=not _takes_all(sys.stdout.encoding), indent=2, default=str)
    sys.stdout.write(_OBEYED.sub(lambda char: f"\\u{ord(char[0]):04x}", text) + "\n")
    sys.stdout.flush()


def _takes_all(encoding: str | None) -> bool:
    """Whether an encoding has every character, so that none is written in Python's escapes, which JSON has not."""
    return (encoding or "").lower().replace("_", "-").startswith(("utf", "gb18030"))


def write_error(code: str, message: str, details: Mapping[str, Any]) -> None:
    """Print an error as a JSON document: its code, its sentence and its numbers."""
    write({"error": {"code": code, "message": message, "details": details}})


def plan(planned: Plan) -> dict[str, Any]:
    """Return a plan as JSON values."""
    return {
        "exact": planned.exact,
        "prompt_tokens": planned.prompt_tokens,
        "max_tokens": planned.max_tokens,
        "calls": [{**asdict(call), "spans": [asdict(span) for span in call.spans]} for call in planned.calls],
        "coverage": [asdict(row) for row in planned.coverage],
        "open_steps": list(planned.open_steps),
    }


def sources(nodes: Sequence[NodeWithScore]) -> list[dict[str, Any]]:
    """Return passages as JSON values, numbered as the answer cites them."""
    return [
        {
            "number": number,
            "node_id": source.node_id,
            "score": source.score,
            "document_id": source.node.ref_doc_id,
            "start_character": source.node.start_char_idx,
            "end_character": source.node.end_char_idx,
            "metadata": source.metadata,
            "text": source.text,
        }
        for number, source in enumerate(nodes, 1)
    ]


def _response(response: Response, language: str) -> dict[str, Any]:
    return {
        "outcome": response.outcome.value,
        "text": response.text,
        "placeholder": response.placeholder,
        "language": response.language,
        "grounded": response.grounded,
        "citations": [asdict(citation) for citation in response.citations],
        "items": [_item(item, language) for item in response.items],
        "sources": sources(response.source_nodes),
        "coverage": [asdict(row) for row in response.coverage],
        "warnings": [_warning(notice, language) for notice in response.warnings],
        "usage": asdict(response.usage),
        "trace": [_call(record, language) for record in response.trace],
    }


def _item(item: AnswerItem, language: str) -> dict[str, Any]:
    error = item.error and _error(item.error, language)
    return {"number": item.index + 1, "text": item.text, "passages": list(item.numbers), "error": error}


def _call(record: CallRecord, language: str) -> dict[str, Any]:
    call = record.call
    return {
        "number": record.number + 1,
        "stage": call.stage,
        "prompt_tokens": call.prompt_tokens,
        "max_tokens": call.sampling.max_tokens,
        "messages": [{"role": message.role.value, "content": message.content} for message in call.messages],
        "spans": [asdict(span) for span in call.spans],
        "completion": record.completion and asdict(record.completion),
        "error": record.error and _error(record.error, language),
    }


def _warning(notice: Notice, language: str) -> dict[str, Any]:
    return {"code": notice.code, "message": notice.render(language), "details": notice.details}


def _error(error: Exception, language: str) -> dict[str, Any]:
    if isinstance(error, ResponsaError):
        return {"code": error.code, "message": error.render(language), "details": error.details()}
    return {"code": type(error).__name__, "message": str(error), "details": {}}
