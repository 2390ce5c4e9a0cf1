"""The async drivers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, closing
from types import AsyncGeneratorType, GeneratorType
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


async def arun(program: Program[T], llm: LLM | None = None, *, concurrency: int | None = None) -> T:
    """Run a program without blocking and return its result; see `run`."""
    result: T
    async with aclosing(astream(program, llm, concurrency=concurrency)) as events:
        async for event in events:
            if isinstance(event, Done):
                result = event.response
    return result


async def astream(
    program: Program[Any], llm: LLM | None = None, *, concurrency: int | None = None
) -> AsyncGenerator[Event, None]:
    """Run a program without blocking and yield what happens, as it happens; see `stream`."""
    number = 0
    outcomes: Sequence[Outcome] | None = None
    with closing(program):
        try:
            while True:
                step = program.send(outcomes)  # type: ignore[arg-type]
                calls = [effect for effect in step if isinstance(effect, LLMCall)]
                collected: list[Outcome] = []
                if len(calls) > 1 and len(calls) == len(step):
                    steps = _together(calls, needed_llm(llm), number, concurrency, collected)
                else:
                    steps = _in_turn(step, llm, number, collected)
                async with aclosing(steps) as events:
                    async for event in events:
                        yield event
                outcomes = collected
                number += len(calls)
        except StopIteration as stop:
            yield Done(stop.value)
        except ResponsaError as error:
            yield ErrorRaised(error)
            raise


async def _in_turn(
    step: Sequence[Effect], llm: LLM | None, number: int, outcomes: list[Outcome]
) -> AsyncGenerator[Event, None]:
    for effect in step:
        if isinstance(effect, LLMCall):
            async with aclosing(_call(effect, needed_llm(llm), number, outcomes)) as events:
                async for event in events:
                    yield event
            number += 1
        elif isinstance(effect, Emit):
            yield effect.event
            outcomes.append(None)
        else:
            outcome = await _do(effect, llm)
            if isinstance(outcome, GeneratorType):
                from responsa.llms.threads import in_threads

                outcome = in_threads(outcome)
            if isinstance(outcome, AsyncGeneratorType):
                async with aclosing(_spoken(outcome, number, stage_of(effect), outcomes)) as events:
                    async for event in events:
                        yield event
            else:
                outcomes.append(outcome)


async def _spoken(
    pieces: AsyncGenerator[str, None], number: int, stage: str, outcomes: list[Outcome]
) -> AsyncGenerator[Event, None]:
    """Pass on the text that a user's own code gives in pieces, and collect it whole."""
    said: list[str] = []
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                said.append(piece)
                yield TextDelta(piece, number)
        outcomes.append("".join(said))
    except Exception as error:  # user code may raise anything; it reaches the program as the outcome
        outcomes.append(Failed(as_step_error(stage, error)))


async def _call(call: LLMCall, llm: LLM, number: int, outcomes: list[Outcome]) -> AsyncGenerator[Event, None]:
    reader = CallReader(number, call)
    yield reader.start()
    outcome: Outcome
    try:
        async with aclosing(llm.astream(call.messages, call.sampling)) as items:
            async for item in items:
                for event in reader.feed(item):
                    yield event
        outcome, last = reader.complete()
    except Exception as error:  # a custom LLM may raise anything; it reaches the program as the call's outcome
        outcome, last = reader.fail(error)
    outcomes.append(outcome)
    for event in last:
        yield event


async def _together(
    calls: Sequence[LLMCall], llm: LLM, number: int, concurrency: int | None, outcomes: list[Outcome]
) -> AsyncGenerator[Event, None]:
    import asyncio

    limit = concurrency if concurrency is not None else (await llm.ametadata()).slots
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    batch = asyncio.ensure_future(call_together(calls, llm, number, limit, queue.put_nowait))
    batch.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        outcomes.extend(batch.result())
    finally:
        batch.cancel()
        await asyncio.wait([batch])


async def call_together(
    calls: Sequence[LLMCall], llm: LLM, number: int, limit: int, put: Callable[[Event], None]
) -> list[Outcome]:
    """Make calls with at most `limit` under way, hand every event to `put`, and return the outcomes in order.

    Cancelling it cancels every call under way.
    """
    import asyncio

    results: list[Outcome] = [None] * len(calls)
    waiting = iter(enumerate(calls))

    async def work() -> None:
        for position, call in waiting:
            collected: list[Outcome] = []
            async with aclosing(_call(call, llm, number + position, collected)) as events:
                async for event in events:
                    put(event)
            results[position] = collected[0]

    workers = [asyncio.ensure_future(work()) for _ in range(min(max(limit, 1), len(calls)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.wait(workers)
    return results


async def _do(effect: Effect, llm: LLM | None) -> Outcome:
    import asyncio

    try:
        match effect:
            case Perform():
                return await effect.acall()
            case Count(texts):
                counts = await needed_llm(llm).acount_tokens(texts)
                await asyncio.sleep(0)  # an estimate waits for nothing; others have a turn
                return counts
            case Measure(prompts):
                return await needed_llm(llm).acount_prompts(prompts)
            case Describe():
                return await needed_llm(llm).ametadata()
    except Exception as error:  # user code and stores may raise anything; it reaches the program as the outcome
        return Failed(as_step_error(stage_of(effect), error))
    raise TypeError(f"{effect!r} is not an effect.")
