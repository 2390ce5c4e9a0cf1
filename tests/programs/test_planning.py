"""A dry run makes every count and search for real, and asks no model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from tests.programs.scenes import STEPS, Step, answering, asking, call, program_of

from responsa.programs import Failed, Perform, Program, aplan, ask, count, dry_run, emit, perform, plan, run, stream
from responsa.schema.completions import Sampling
from responsa.schema.errors import MissingPart, StepFailed
from responsa.schema.events import Done, QuestionRewritten
from responsa.schema.plans import Plan
from responsa.schema.protocols import LLM
from responsa.schema.spans import Span
from responsa.testing import ScriptedLLM


def both(make_program: object, llm: LLM | None) -> Plan:
    """Plan in both drivers, which must agree."""
    assert callable(make_program)
    planned = plan(make_program(), llm)
    assert asyncio.run(aplan(make_program(), llm)) == planned
    return planned


@given(STEPS)
def test_a_plan_asks_no_model_and_has_a_call_for_every_call_of_a_run(steps: list[Step]) -> None:
    llm = answering(["ab"])
    planned = both(lambda: program_of(steps), llm)
    assert llm.prompts == []
    assert planned.exact
    made = run(program_of(steps), llm).calls
    assert [entry.stage for entry in planned.calls] == [record.call.stage for record in made]


def test_a_planned_call_keeps_what_is_known_of_it() -> None:
    span = Span(1, "n", 0, 5, whole=True)
    asked = call("a", "refine", sampling=Sampling(max_tokens=40), spans=(span,), prompt_tokens=300)
    (entry,) = both(lambda: ask(asked), ScriptedLLM()).calls
    assert (entry.stage, entry.prompt_tokens, entry.max_tokens, entry.spans) == ("refine", 300, 40, (span,))


class WideWords(ScriptedLLM):
    """A tokenizer that takes three words as one token."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) // 3 for text in texts]


@pytest.mark.parametrize("llm", [ScriptedLLM(), WideWords()], ids=["a token a word", "a token in three words"])
@pytest.mark.parametrize("max_tokens", [1, 2, 7, 100, 1000])
def test_a_placeholder_is_as_long_as_the_longest_answer_and_hardly_longer(llm: LLM, max_tokens: int) -> None:
    seen: list[str] = []

    def program() -> Program[None]:
        completion = yield from ask(call("a", sampling=Sampling(max_tokens=max_tokens)))
        seen.append(completion.text)

    plan(program(), llm)
    assert max_tokens <= llm.count_tokens(seen)[0] <= max_tokens + 12


def test_searches_are_made_and_steps_that_may_ask_a_model_are_not() -> None:
    done: list[str] = []

    async def search() -> list[str]:
        done.append("async search")
        return ["a", "b"]

    def program() -> Program[None]:
        found = yield from perform(Perform("search", lambda: done.append("search") or ["a", "b"], search))
        for text in found:
            yield from ask(call(text))
        yield from perform(Perform("Mine", lambda: done.append("never"), search, asks_model=True))

    planned = both(program, ScriptedLLM())
    assert done == ["search", "async search"]
    assert planned.by_stage == {"answer": 2}
    assert (planned.exact, planned.open_steps) == (False, ("Mine",))


def test_a_plan_made_inside_a_program_tells_nobody() -> None:
    def inner() -> Program[None]:
        yield from emit(QuestionRewritten("a", "b"))
        yield from ask(call("a"))

    told = list(stream(dry_run(inner()), ScriptedLLM()))
    assert [type(event) for event in told] == [Done]


def test_a_step_of_several_effects_is_answered_in_their_order() -> None:
    def program() -> Program[list[object]]:
        def search() -> None:
            raise OSError("gone")

        async def asearch() -> None:
            raise OSError("gone")

        outcomes = yield (call("a"), Perform("search", search, asearch), call("b"))
        assert isinstance(outcomes[1], Failed)
        assert isinstance(outcomes[1].error, StepFailed)
        assert outcomes[0].finish_reason == outcomes[2].finish_reason == "planned"
        yield from asking(call("c"))
        return []

    assert both(program, ScriptedLLM()).by_stage == {"answer": 3}


def test_a_program_that_cannot_be_planned_fails_as_it_would_when_run() -> None:
    def program() -> Program[None]:
        yield from count(["a"])
        raise MissingPart("a part", "this")

    for _ in range(2):
        with pytest.raises(MissingPart, match="a part"):
            both(program, ScriptedLLM())
