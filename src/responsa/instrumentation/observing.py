"""Watching a program from outside: every driver runs it, and the handlers are told the same."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

from responsa.programs import Effect, Failed, LLMCall, Outcome, Perform, Program, relayed
from responsa.schema.completions import Completion

from .callbacks import CallbackManager, CBEventType, EventPayload

T = TypeVar("T")
_Begun: TypeAlias = tuple[CBEventType, str, dict[str, Any]]


def observed(program: Program[T], manager: CallbackManager, event_type: CBEventType, question: str) -> Program[T]:
    """Run `program` as a part of another and tell the handlers of its start and end, its calls and its searches."""
    payload: dict[str, Any] = {EventPayload.QUERY_STR: question}
    event_id = manager.start(event_type, payload)
    began = perf_counter()
    ended = payload
    try:
        result = yield from watched(program, manager, event_id)
        ended = {**payload, EventPayload.RESPONSE: result}
        return result
    except BaseException as error:
        ended = {**payload, EventPayload.EXCEPTION: error}
        raise
    finally:
        manager.end(event_type, {**ended, EventPayload.SECONDS: perf_counter() - began}, event_id)


def watched(program: Program[T], manager: CallbackManager, parent_id: str = "") -> Program[T]:
    """Run `program` as a part of another and tell the handlers of its calls and its searches."""

    def told(step: Sequence[Effect]) -> Program[Sequence[Outcome]]:
        begun = [_begin(effect, manager, parent_id) for effect in step]
        began = perf_counter()
        try:
            outcomes = yield step
        except BaseException as error:  # the run was closed: what it had begun has ended too
            _end(begun, [error] * len(begun), perf_counter() - began, manager)
            raise
        _end(begun, outcomes, perf_counter() - began, manager)
        return outcomes

    return relayed(program, told)


def _end(begun: Sequence[_Begun | None], outcomes: Sequence[Outcome], seconds: float, manager: CallbackManager) -> None:
    for start, outcome in zip(begun, outcomes, strict=True):
        if start is not None:
            event_type, event_id, payload = start
            manager.end(event_type, {**payload, **_ended(outcome, seconds)}, event_id)


def _begin(effect: Effect, manager: CallbackManager, parent_id: str) -> _Begun | None:
    if isinstance(effect, LLMCall):
        payload: dict[str, Any] = {EventPayload.STAGE: effect.stage, EventPayload.MESSAGES: effect.messages}
        return CBEventType.LLM, manager.start(CBEventType.LLM, payload, parent_id), dict(payload)
    if isinstance(effect, Perform) and effect.finds_passages:
        return CBEventType.RETRIEVE, manager.start(CBEventType.RETRIEVE, {}, parent_id), {}
    return None


def _ended(outcome: Outcome, seconds: float) -> dict[str, Any]:
    if isinstance(outcome, BaseException):
        return {EventPayload.SECONDS: seconds, EventPayload.EXCEPTION: outcome}
    if isinstance(outcome, Failed):
        took = outcome.timings.total
        return {
            EventPayload.SECONDS: seconds if took is None else took,
            EventPayload.TIMINGS: outcome.timings,
            EventPayload.EXCEPTION: outcome.error,
        }
    if isinstance(outcome, Completion):
        took = outcome.timings.total
        return {
            EventPayload.SECONDS: seconds if took is None else took,
            EventPayload.TIMINGS: outcome.timings,
            EventPayload.RESPONSE: outcome.text,
            EventPayload.PROMPT_TOKENS: outcome.usage.prompt_tokens,
            EventPayload.COMPLETION_TOKENS: outcome.usage.completion_tokens,
            EventPayload.MODEL: outcome.model,
            EventPayload.FINISH_REASON: outcome.finish_reason,
        }
    return {EventPayload.SECONDS: seconds, EventPayload.NODES: outcome}
