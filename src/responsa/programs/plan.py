"""The dry run: a program's calls, known before any model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from responsa.schema.calls import LLMCall
from responsa.schema.completions import Completion, LLMMetadata
from responsa.schema.plans import Plan, PlannedCall, planned
from responsa.schema.protocols import LLM

from .effects import Effect, Emit, Outcome, Perform, Program, count
from .relaying import relayed
from .sync_driver import run

_WORD: Final = " answer"
_MORE: Final = 8  # a text that is read again may count a few tokens more than were generated
PLANNED: Final = "planned"  # the finish reason of a placeholder


def plan(program: Program[Any], llm: LLM | None = None) -> Plan:
    """Return the calls `program` will make, without asking a model.

    Each call is answered with a placeholder as long as its `max_tokens`; searches and token counts are made for real.
    """
    return run(dry_run(program), llm)


async def aplan(program: Program[Any], llm: LLM | None = None) -> Plan:
    """Return the calls `program` will make without asking a model, and without blocking; see `plan`."""
    from .async_driver import arun

    return await arun(dry_run(program), llm)


def dry_run(program: Program[Any]) -> Program[Plan]:
    """Return the program of a plan: for planning as a part of another program. It tells nobody of anything."""
    calls: list[PlannedCall] = []
    wave = 0
    metadata: LLMMetadata | None = None
    open_steps: list[str] = []
    placeholders: dict[int, str] = {}

    def answered(step: Sequence[Effect]) -> Program[Sequence[Outcome]]:
        nonlocal wave, metadata
        answers: list[Outcome] = []
        for effect in step:
            if isinstance(effect, LLMCall):
                calls.append(planned(effect, wave))
                answers.append((yield from _placeholder((effect.sampling.max_tokens or 0) + _MORE, placeholders)))
            elif isinstance(effect, Perform) and effect.asks_model:
                open_steps.append(effect.name)
                answers.append("")
            elif isinstance(effect, Emit):
                answers.append(None)
            else:
                answers.append((yield from _forward(effect)))
                metadata = answers[-1] if isinstance(answers[-1], LLMMetadata) else metadata
        wave += any(isinstance(effect, LLMCall) for effect in step)
        return answers

    yield from relayed(program, answered)
    return Plan(tuple(calls), exact=not open_steps, open_steps=tuple(open_steps), metadata=metadata)


def _forward(effect: Effect) -> Program[Outcome]:
    (outcome,) = yield (effect,)
    return outcome


def _placeholder(tokens: int, made: dict[int, str]) -> Program[Completion]:
    """Return an answer that the model's tokenizer counts as at least `tokens`, no matter how it joins the words.

    It is no longer than it must be: a mode that shortens long answers would leave less of it than of a real one.
    """
    if tokens not in made:
        sample = (yield from count([_WORD * tokens]))[0]
        words = -(-tokens * tokens // max(sample, 1))
    while tokens not in made:
        candidate = _WORD * words
        counted = (yield from count([candidate]))[0]
        if counted >= tokens:
            made[tokens] = candidate
        words = max(words + 1, words * tokens // max(counted, 1) + 1)
    return Completion(made[tokens], finish_reason=PLANNED)
