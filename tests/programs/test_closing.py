"""Closing a stream closes the requests behind it, at whatever point, and leaves nothing running."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from tests.programs.scenes import asking, call

from responsa.programs import Program, ask, astream, perform, stream
from responsa.programs.effects import Perform
from responsa.schema.calls import LLMCall
from responsa.schema.events import Event, StepStarted, TextDelta
from responsa.schema.protocols import LLM
from responsa.testing import ScriptedLLM

LONG = "one two three four five six seven eight"
MANY = [call(str(number)) for number in range(6)]


class Watched:
    """A program that remembers whether it was closed before its end."""

    def __init__(self, *calls: LLMCall) -> None:
        self.calls = calls
        self.closed = False

    def program(self) -> Program[Any]:
        try:
            return (yield from asking(*self.calls))
        except GeneratorExit:
            self.closed = True
            raise


@contextmanager
def closing_after(program: Program[Any], llm: LLM, number: int, kind: type[Event]) -> Iterator[None]:
    """Read a stream up to the given event of a kind, counted from 1, and close it."""
    events = stream(program, llm)
    for event in events:
        number -= isinstance(event, kind)
        if number <= 0:
            break
    yield
    events.close()


@asynccontextmanager
async def aclosing_after(program: Program[Any], llm: LLM, number: int, kind: type[Event]) -> AsyncIterator[None]:
    """Read an async stream up to the given event of a kind, counted from 1, and close it."""
    events = astream(program, llm)
    async for event in events:
        number -= isinstance(event, kind)
        if number <= 0:
            break
    yield
    await events.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("number", [1, 2, 4])
def test_closing_in_the_middle_of_an_answer_closes_its_request(number: int) -> None:
    llm, watched = ScriptedLLM(LONG), Watched(call("a"))
    with closing_after(watched.program(), llm, number, TextDelta):
        assert (llm.under_way, llm.closed) == (1, 0)
    assert (llm.under_way, llm.closed, watched.closed) == (0, 1, True)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_closing_an_async_stream_closes_its_request(number: int) -> None:
    async def read() -> None:
        llm, watched = ScriptedLLM(LONG), Watched(call("a"))
        async with aclosing_after(watched.program(), llm, number, TextDelta):
            assert (llm.under_way, llm.closed) == (1, 0)
        assert (llm.under_way, llm.closed, watched.closed) == (0, 1, True)

    asyncio.run(read())


class Holding(ScriptedLLM):
    """A model that holds on to its streams, as a pool of connections does: nothing closes them by forgetting them."""

    def __init__(self, script: str) -> None:
        super().__init__(script)
        self.streams: list[Any] = []

    def stream(self, messages, sampling):
        self.streams.append(super().stream(messages, sampling))
        return self.streams[-1]

    def astream(self, messages, sampling):
        self.streams.append(super().astream(messages, sampling))
        return self.streams[-1]


def test_a_request_is_closed_and_not_only_forgotten() -> None:
    llm = Holding(LONG)
    with closing_after(asking(call("a")), llm, 1, TextDelta):
        pass
    assert (llm.under_way, llm.closed) == (0, 1)

    async def read() -> None:
        async with aclosing_after(asking(call("a")), llm, 1, TextDelta):
            pass

    asyncio.run(read())
    assert (llm.under_way, llm.closed) == (0, 2)


@pytest.mark.parametrize("number", [1, 3, 10])
def test_closing_in_the_middle_of_a_batch_closes_every_request(number: int) -> None:
    llm, watched = ScriptedLLM(LONG, slots=3), Watched(*MANY)
    with closing_after(watched.program(), llm, number, TextDelta):
        pass
    # Some of them may have come to their end while the stream was not read; none goes on.
    assert llm.under_way == 0
    assert watched.closed
    assert len(llm.prompts) <= len(MANY)


@pytest.mark.parametrize("number", [1, 3, 10])
def test_closing_an_async_batch_closes_every_request_and_leaves_no_task(number: int) -> None:
    async def read() -> None:
        llm, watched = ScriptedLLM(LONG, slots=3), Watched(*MANY)
        async with aclosing_after(watched.program(), llm, number, TextDelta):
            assert llm.under_way == 3
        assert (llm.under_way, llm.closed, watched.closed) == (0, 3, True)

    asyncio.run(read())


class Silent(ScriptedLLM):
    """A model that never says a word, until its request is closed; it tells when all slots are taken."""

    def __init__(self, slots: int) -> None:
        super().__init__(slots=slots)
        self.full = asyncio.Event()

    async def astream(self, messages, sampling):
        self.under_way += 1
        if self.under_way == self.metadata.slots:
            self.full.set()
        try:
            await asyncio.Event().wait()
            yield
        except asyncio.CancelledError:
            self.closed += 1
            raise
        finally:
            self.under_way -= 1


def test_closing_a_batch_before_the_first_token_closes_every_request() -> None:
    llm, watched = Silent(slots=3), Watched(*MANY)
    with closing_after(watched.program(), llm, 3, StepStarted):
        pass
    assert (llm.under_way, llm.closed, watched.closed) == (0, 3, True)


def test_cancelling_a_task_that_waits_for_the_first_token_closes_every_request() -> None:
    async def read(llm: Silent, *calls: LLMCall) -> None:
        watched = Watched(*calls)

        async def drain() -> None:
            async for _ in astream(watched.program(), llm):
                pass

        task = asyncio.create_task(drain())
        await llm.full.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (llm.under_way, llm.closed) == (0, llm.metadata.slots)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(read(Silent(slots=3), *MANY))
    asyncio.run(read(Silent(slots=1), MANY[0]))


def test_closing_before_the_request_is_made_makes_none() -> None:
    llm, watched = ScriptedLLM(LONG), Watched(call("a"))
    with closing_after(watched.program(), llm, 1, StepStarted):
        pass
    assert (llm.prompts, watched.closed) == ([], True)


def test_a_stream_that_was_never_read_asks_nothing() -> None:
    async def close() -> None:
        await astream(asking(*MANY), llm).aclose()

    llm = ScriptedLLM(LONG)
    stream(asking(*MANY), llm).close()
    asyncio.run(close())
    assert llm.prompts == []


def test_closing_closes_a_users_own_pieces_too() -> None:
    closed: list[str] = []

    def pieces() -> Iterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            closed.append("blocking")

    async def apieces() -> AsyncIterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            closed.append("async")

    async def start() -> AsyncIterator[str]:
        return apieces()

    with closing_after(perform(Perform("mine", pieces, start)), ScriptedLLM(), 1, TextDelta):
        assert closed == []
    assert closed == ["blocking"]

    async def read() -> None:
        async with aclosing_after(perform(Perform("mine", pieces, start)), ScriptedLLM(), 1, TextDelta):
            assert closed == ["blocking"]

    asyncio.run(read())
    assert closed == ["blocking", "async"]


def test_a_program_that_ends_leaves_nothing_to_close() -> None:
    llm = ScriptedLLM(LONG)
    assert [type(event).__name__ for event in stream(ask(call("a")), llm)][-1] == "Done"
    assert (llm.under_way, llm.closed) == (0, 0)
