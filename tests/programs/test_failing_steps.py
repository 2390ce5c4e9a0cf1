"""A step that fails for a reason that is not ours says which step it was, in every driver."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any, NoReturn

import pytest

from responsa.programs import Count, Program, arun, perform, run
from responsa.programs.effects import Effect, Perform
from responsa.schema.errors import StepFailed
from responsa.testing import ScriptedLLM


def breaks() -> NoReturn:
    raise OSError("no disk")


async def abreaks() -> NoReturn:
    breaks()


def speaks_and_breaks() -> Generator[str, None, None]:
    yield "One word"
    breaks()


async def aspeaks_and_breaks() -> Generator[str, None, None]:
    return speaks_and_breaks()


class Uncounting(ScriptedLLM):
    def count_tokens(self, texts: object) -> NoReturn:
        breaks()


def program(effect: Effect) -> Program[Any]:
    return (yield from perform(effect))


@pytest.mark.parametrize(
    ("effect", "stage"),
    [
        (Perform("search", breaks, abreaks), "search"),
        (Perform("speech", speaks_and_breaks, aspeaks_and_breaks), "speech"),
        (Count(("a text",)), "count"),
    ],
)
def test_a_failed_step_is_named(effect: Effect, stage: str) -> None:
    with pytest.raises(StepFailed) as blocking:
        run(program(effect), Uncounting())
    with pytest.raises(StepFailed) as asynchronous:
        asyncio.run(arun(program(effect), Uncounting()))
    for caught in (blocking, asynchronous):
        assert (caught.value.stage, caught.value.reason) == (stage, "OSError: no disk")
        assert isinstance(caught.value.__cause__, OSError)
