"""The blocking drivers. They make no event loop, so they work inside a running one, as in a notebook."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from types import GeneratorType
from typing import Any, TypeVar

from responsa.schema.calls import LLMCall
from responsa.schema.errors import ResponsaError
from responsa.schema.events import Done, ErrorRaised, Event, TextDelta
from responsa.schema.protocols import LLM

from .call_reader import CallReader
from .effects import (
    Count,
    Describe,
    Effect,
    Emit,
    Failed,
    Measure,
    Outcome,
    Perform,
    Program,
    as_step_error,
    needed_llm,
    stage_of,
)

T = TypeVar("T")


def run(program: Program[T], llm: LLM | None = None, *, concurrency: int | None = None) -> T:
    """Run a program and return its result.

    Args:
        program: The program; it is used up.
        llm: The model that answers its calls; needed only if it makes any.
        concurrency: The most calls under way at once; the server's slots when left out.

    Raises:
        ResponsaError: Whatever the program failed with.
    """
    result: T
    for event in stream(program, llm, concurrency=concurrency):
        if isinstance(event, Done):
            result = event.response
    return result


def stream(
    program: Program[Any], llm: LLM | None = None, *, concurrency: int | None = None
) -> Generator[Event, None, None]:
    """Run a program and yield what happens, as it happens; the last event is `Done` with its result.

    Closing the generator closes every request that is under way.
    """
    number = 0
    outcomes: Sequence[Outcome] | None = None
    with closing(program):
        try:
            while True:
                step = program.send(outcomes)  # type: ignore[arg-type]
                calls = [effect for effect in step if isinstance(effect, LLMCall)]
                if len(calls) > 1 and len(calls) == len(step) and (limit := _limit(llm, concurrency)) > 1:
                    from .portal import stream_together

                    outcomes = yield from stream_together(calls, needed_llm(llm), number, limit)
                else:
                    outcomes = yield from _in_turn(step, llm, number)
                number += len(calls)
        except StopIteration as stop:
            yield Done(stop.value)
        except ResponsaError as error:
            yield ErrorRaised(error)
            raise


def _in_turn(step: Sequence[Effect], llm: LLM | None, number: int) -> Generator[Event, None, list[Outcome]]:
    outcomes: list[Outcome] = []
    for effect in step:
        if isinstance(effect, LLMCall):
            outcomes.append((yield from _call(effect, needed_llm(llm), number)))
            number += 1
        elif isinstance(effect, Emit):
            yield effect.event
            outcomes.append(None)
        else:
            outcome = _do(effect, llm)
            if isinstance(outcome, GeneratorType):
                outcome = yield from _spoken(outcome, number, stage_of(effect))
            outcomes.append(outcome)
    return outcomes


def _spoken(pieces: Generator[str, None, Any], number: int, stage: str) -> Generator[Event, None, Outcome]:
    """Pass on the text that a user's own code gives in pieces, and return it whole."""
    said: list[str] = []
    try:
        with closing(pieces):
            for piece in pieces:
                said.append(piece)
                yield TextDelta(piece, number)
    except Exception as error:  # user code may raise anything; it reaches the program as the outcome
        return Failed(as_step_error(stage, error))
    return "".join(said)


def _call(call: LLMCall, llm: LLM, number: int) -> Generator[Event, None, Outcome]:
    reader = CallReader(number, call)
    yield reader.start()
    outcome: Outcome
    try:
        with closing(llm.stream(call.messages, call.sampling)) as items:
            for item in items:
                yield from reader.feed(item)
        outcome, last = reader.complete()
    except Exception as error:  # a custom LLM may raise anything; it reaches the program as the call's outcome
        outcome, last = reader.fail(error)
    yield from last
    return outcome


def _do(effect: Effect, llm: LLM | None) -> Outcome:
    try:
        match effect:
            case Perform():
                return effect.call()
            case Count(texts):
                return needed_llm(llm).count_tokens(texts)
            case Measure(prompts):
                return needed_llm(llm).count_prompts(prompts)
            case Describe():
                return needed_llm(llm).metadata
    except Exception as error:  # user code and stores may raise anything; it reaches the program as the outcome
        return Failed(as_step_error(stage_of(effect), error))
    raise TypeError(f"{effect!r} is not an effect.")


def _limit(llm: LLM | None, concurrency: int | None) -> int:
    return concurrency if concurrency is not None else needed_llm(llm).metadata.slots
