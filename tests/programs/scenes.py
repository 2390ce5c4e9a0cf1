"""Random programs, and ways to run one that must all come to the same."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from responsa.programs import (
    Failed,
    Perform,
    Program,
    Recorder,
    arun,
    ask_all,
    astream,
    count,
    describe,
    emit,
    measure,
    perform,
    stream,
    traced,
    warn,
)
from responsa.schema.calls import CallRecord, LLMCall
from responsa.schema.completions import Sampling
from responsa.schema.errors import RequestRefused, ResponsaError
from responsa.schema.events import ErrorRaised, Event, QuestionRewritten
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM
from responsa.testing import ScriptedLLM


def call(text: str, stage: str = "answer", **fields: Any) -> LLMCall:
    return LLMCall(stage, (ChatMessage("user", text),), **fields)


def asking(*calls: LLMCall) -> Program[list[Any]]:
    """Make calls together and return what came of each: its text, or its error."""
    outcomes = yield from ask_all(calls)
    return [outcome.error if isinstance(outcome, Failed) else outcome.text for outcome in outcomes]


@dataclass(frozen=True)
class Step:
    """One step of a random program: what is asked, and how many at once."""

    kind: str
    texts: tuple[str, ...]
    visible: bool = True
    draft: bool = False
    max_tokens: int | None = None


@dataclass(frozen=True)
class Result:
    """What a random program returns."""

    facts: tuple[Any, ...]
    calls: tuple[CallRecord, ...]
    notices: tuple[Any, ...]


def program_of(steps: Sequence[Step]) -> Program[Result]:
    """A program that does `steps`, each knowing what came of those before."""
    recorder = Recorder()
    facts = yield from traced(_doing(steps), recorder)
    return Result(tuple(facts), tuple(recorder.calls), tuple(recorder.notices))


def _doing(steps: Sequence[Step]) -> Program[list[Any]]:
    facts: list[Any] = []
    for step in steps:
        before = str(facts[-1]) if facts else ""
        if step.kind == "ask":
            calls = [
                call(
                    f"{before}|{position}|{text}",
                    visible=step.visible,
                    draft=step.draft,
                    sampling=Sampling(step.max_tokens),
                )
                for position, text in enumerate(step.texts)
            ]
            facts.append([_told(outcome) for outcome in (yield from ask_all(calls))])
        elif step.kind == "count":
            facts.append((yield from count(step.texts)))
        elif step.kind == "measure":
            facts.append((yield from measure([(ChatMessage("user", text),) for text in step.texts])))
        elif step.kind == "describe":
            facts.append((yield from describe()).context_window)
        elif step.kind == "perform":
            facts.append((yield from perform(_joining(step.texts))))
        elif step.kind == "emit":
            yield from emit(QuestionRewritten(before, "".join(step.texts)))
        else:
            yield from warn("unknown_citation", numbers=len(step.texts))
    return facts


def _told(outcome: Any) -> str:
    return f"failed: {outcome.error}" if isinstance(outcome, Failed) else outcome.text


def _joining(texts: Sequence[str]) -> Perform:
    async def joined() -> str:
        await asyncio.sleep(0)
        return "+".join(texts)

    return Perform("join", lambda: "+".join(texts), joined)


PIECES = st.text(alphabet=st.sampled_from("ab 12.\n，。我知"), max_size=8)
STEPS = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from(["ask", "ask", "ask", "count", "measure", "describe", "perform", "emit", "warn"]),
        texts=st.lists(PIECES, max_size=5).map(tuple),
        visible=st.booleans(),
        draft=st.booleans(),
        max_tokens=st.sampled_from([None, 1, 3, 50]),
    ),
    max_size=5,
)
ANSWERS = st.lists(PIECES | st.just("!fail"), min_size=1, max_size=5)


def answering(answers: Sequence[str], **options: Any) -> ScriptedLLM:
    """A model whose answer hangs on the prompt alone, so that no order of calls changes it."""

    def answer(messages: Sequence[ChatMessage]) -> str | Exception:
        content = "\n".join(message.content for message in messages)
        chosen = answers[zlib.crc32(content.encode()) % len(answers)]
        return RequestRefused("scripted", 400, "no") if chosen == "!fail" else chosen

    return ScriptedLLM(answer, **options)


def sync_events(program: Program[Any], llm: LLM | None = None, concurrency: int | None = None) -> list[Event]:
    """Return what the blocking driver tells, up to an error if it ends with one."""
    events: list[Event] = []
    with suppress(ResponsaError):
        for event in stream(program, llm, concurrency=concurrency):
            events.append(event)  # noqa: PERF402 - what came before an error is kept
    return events


def async_events(program: Program[Any], llm: LLM | None = None, concurrency: int | None = None) -> list[Event]:
    """Return what the async driver tells, up to an error if it ends with one."""
    events: list[Event] = []

    async def read() -> None:
        with suppress(ResponsaError):
            async for event in astream(program, llm, concurrency=concurrency):
                events.append(event)  # what came before an error is kept

    asyncio.run(read())
    return events


def async_run(program: Program[Any], llm: LLM | None = None, concurrency: int | None = None) -> Any:
    """Run a program in the async driver, from blocking code."""
    return asyncio.run(arun(program, llm, concurrency=concurrency))


def comparable(value: Any) -> Any:
    """The same without what may differ between two equal runs: an error is its class and its words."""
    if isinstance(value, Exception):
        return type(value).__name__, str(value)
    if isinstance(value, Result):
        return replace(value, calls=tuple(map(comparable, value.calls)))
    if isinstance(value, CallRecord | ErrorRaised) and value.error is not None:
        return replace(value, error=comparable(value.error))
    for name in ("error", "response"):
        if getattr(value, name, None) is not None:
            return replace(value, **{name: comparable(getattr(value, name))})
    return value


def by_call(events: Iterable[Event]) -> dict[int | None, list[Any]]:
    """Events of each call in their order; those of calls under way together may alternate in any way."""
    sorted_out: dict[int | None, list[Any]] = {}
    for event in events:
        sorted_out.setdefault(getattr(event, "number", None), []).append(comparable(event))
    return sorted_out
