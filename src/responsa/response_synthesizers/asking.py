"""Making a mode's calls: built from measured messages, and read as text or as objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from responsa.packing.budget import Budget
from responsa.packing.fitting import Messages
from responsa.packing.passages import Pack
from responsa.programs import Failed, LLMCall, Program, ask_all, measure
from responsa.programs.plan import PLANNED
from responsa.schema.completions import Completion
from responsa.schema.errors import StructuredOutputFailed
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.substitution import substitute

from .structure import Reply, Structure
from .task import Task


def build_call(
    stage: str,
    task: Task,
    budget: Budget,
    messages: Messages,
    tokens: int,
    pack: Pack | None = None,
    *,
    visible: bool = True,
    draft: bool = False,
    item: int | None = None,
    hold_back: Callable[[str, bool], bool] | None = None,
    most_tokens: int | None = None,
) -> LLMCall:
    """Return the call of measured messages, its answer bounded by the budget; see `LLMCall` for the rest."""
    return LLMCall(
        stage,
        messages,
        task.sampling.bounded(budget.output),
        spans=pack.spans if pack else (),
        visible=visible,
        draft=draft,
        hold_back=hold_back,
        item=item,
        prompt_tokens=tokens,
        most_prompt_tokens=most_tokens,
        marked_reasoning=task.marked_reasoning,
    )


def ask_for(call: LLMCall, task: Task, budget: Budget, structure: Structure | None) -> Program[Reply]:
    """Make one call and return its reply, or raise what it failed with."""
    (reply,) = yield from ask_all_for([call], task, budget, structure)
    if isinstance(reply, Failed):
        raise reply.error
    return reply


def ask_all_for(
    calls: Sequence[LLMCall], task: Task, budget: Budget, structure: Structure | None
) -> Program[list[Reply | Failed]]:
    """Make independent calls and return their replies in order; those that failed are `Failed`.

    Where an object is asked for, a reply that holds none is given back to the model once, to be repaired.
    """
    if structure is None:
        completions = yield from ask_all(calls)
        return [one if isinstance(one, Failed) else Reply(one.text.strip()) for one in completions]
    calls = [replace(call, sampling=replace(call.sampling, output_schema=structure.schema)) for call in calls]
    completions = yield from ask_all(calls)
    replies = [_read(one, structure) for one in completions]
    repairs: dict[int, LLMCall] = {}
    for position, (call, completion, reply) in enumerate(zip(calls, completions, replies, strict=True)):
        if isinstance(reply, Failed) and isinstance(completion, Completion):
            repair = yield from _repair(call, completion, reply.error, task, budget)
            if repair is not None:
                repairs[position] = repair
    repaired = yield from ask_all(list(repairs.values()))
    for position, one in zip(repairs, repaired, strict=True):
        replies[position] = _read(one, structure)
        if isinstance(one, Completion) and one.finish_reason == PLANNED:
            replies[position] = Reply(one.text, planned=True)
    return replies


def _read(completion: Completion | Failed, structure: Structure) -> Reply | Failed:
    if isinstance(completion, Failed):
        return completion
    try:
        return structure.read(completion.text)
    except StructuredOutputFailed as error:
        if completion.finish_reason == "length":
            return Failed(StructuredOutputFailed("the answer was cut at its token limit", completion.text))
        return Failed(error)


def _repair(
    call: LLMCall, completion: Completion, error: Exception, task: Task, budget: Budget
) -> Program[LLMCall | None]:
    """Return the call that asks for a corrected object; None where there is no sense or no room for it."""
    if completion.finish_reason == "length" or not isinstance(error, StructuredOutputFailed):
        return None
    request = substitute(task.prompts.repair, {"reason": error.reason})
    messages = (
        *call.messages,
        ChatMessage(MessageRole.ASSISTANT, completion.text),
        ChatMessage(MessageRole.USER, request),
    )
    (tokens,) = yield from measure([messages])
    if tokens + budget.output > budget.window:
        if completion.finish_reason != PLANNED:
            return None
        tokens = budget.window - budget.output
    return replace(call, stage="repair", messages=messages, visible=False, spans=(), prompt_tokens=tokens)
