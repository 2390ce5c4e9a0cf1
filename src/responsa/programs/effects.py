"""What a program may ask for.

A program is a generator without I/O: it yields a step, a batch of effects that may run together, and is sent their
outcomes. It knows no client, no thread and no `await`; a driver runs it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from responsa.schema.calls import LLMCall
from responsa.schema.completions import Completion, LLMMetadata, Timings
from responsa.schema.errors import MissingPart, ResponsaError, StepFailed
from responsa.schema.events import Event, WarningRaised
from responsa.schema.messages import ChatMessage
from responsa.schema.notices import Notice
from responsa.schema.protocols import LLM

T = TypeVar("T")
# Texts counted in one step: some ten milliseconds where a count is an estimate.
_COUNTED_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class Describe:
    """Ask what the LLM is: its window, its slots. The outcome is an `LLMMetadata`."""


@dataclass(frozen=True, slots=True)
class Count:
    """Count the tokens of texts. The outcome is a list of numbers, one a text."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """Count the tokens of whole prompts as the model will read them. The outcome is a list of numbers."""

    prompts: tuple[tuple[ChatMessage, ...], ...]


@dataclass(frozen=True, slots=True)
class Perform:
    """Do something that has a blocking and an async form, such as a search or a user's own synthesizer.

    Args:
        name: What it is, for plans and errors.
        call: The blocking form.
        acall: The async form.
        asks_model: Whether it may ask a model, so that a plan must not do it.
        finds_passages: Whether it is the search for the passages, which listeners are told of as such.
    """

    name: str
    call: Callable[[], Any]
    acall: Callable[[], Awaitable[Any]]
    asks_model: bool = False
    finds_passages: bool = False


@dataclass(frozen=True, slots=True)
class Emit:
    """Tell whoever listens. The outcome is None."""

    event: Event


@dataclass(frozen=True, slots=True)
class Failed:
    """The outcome of an effect that failed; of a call, with how long it took until then."""

    error: Exception
    timings: Timings = field(default=Timings(), compare=False)


Effect: TypeAlias = LLMCall | Describe | Count | Measure | Perform | Emit
Outcome: TypeAlias = Any
Program: TypeAlias = Generator[Sequence[Effect], Sequence[Outcome], T]


def perform(effect: Effect) -> Program[Any]:
    """Yield one effect and return its outcome, or raise what it failed with."""
    (outcome,) = yield (effect,)
    if isinstance(outcome, Failed):
        raise outcome.error
    return outcome


def ask(call: LLMCall) -> Program[Completion]:
    """Make one call and return its completion, or raise what it failed with."""
    completion: Completion = yield from perform(call)
    return completion


def ask_all(calls: Sequence[LLMCall]) -> Program[list[Completion | Failed]]:
    """Make calls that do not depend on each other; those that failed are `Failed`, the others are kept."""
    if not calls:
        return []
    outcomes = yield tuple(calls)
    return list(outcomes)


def count(texts: Sequence[str]) -> Program[list[int]]:
    """Count the tokens of each text, so many at a time that an event loop is not held up by a book."""
    counts: list[int] = []
    for start in range(0, len(texts), _COUNTED_AT_ONCE):
        counts += yield from perform(Count(tuple(texts[start : start + _COUNTED_AT_ONCE])))
    return counts


def measure(prompts: Sequence[tuple[ChatMessage, ...]]) -> Program[list[int]]:
    """Count the tokens of each prompt as the model will read it."""
    if not prompts:
        return []
    counts: list[int] = yield from perform(Measure(tuple(prompts)))
    return counts


def describe() -> Program[LLMMetadata]:
    """Return what the LLM is."""
    metadata: LLMMetadata = yield from perform(Describe())
    return metadata


def emit(event: Event) -> Program[None]:
    """Tell whoever listens."""
    yield from perform(Emit(event))


def warn(code: str, **details: object) -> Program[None]:
    """Tell whoever listens of a warning, by its code in `NOTICE_TEXTS`."""
    yield from emit(WarningRaised(Notice(code, details)))


def as_step_error(stage: str, error: Exception) -> Exception:
    """Return `error` if it is one of ours, else a `StepFailed` caused by it."""
    if isinstance(error, ResponsaError):
        return error
    failed = StepFailed(stage, f"{type(error).__name__}: {error}")
    failed.__cause__ = error
    return failed


def needed_llm(llm: LLM | None) -> LLM:
    """Return the LLM that a driver was given, or raise MissingPart where a program needs one."""
    if llm is None:
        raise MissingPart("an LLM (llm=...)", "this program")
    return llm


def stage_of(effect: Effect) -> str:
    """Return what an effect is called in errors."""
    match effect:
        case LLMCall():
            return effect.stage
        case Perform():
            return effect.name
        case _:
            return type(effect).__name__.lower()
