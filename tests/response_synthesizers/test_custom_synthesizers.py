"""A mode of one's own: a program, or `get_response` and `aget_response`; either runs in every way there is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.response_synthesizers.scenes import (
    QUESTION,
    RESPONDING,
    aevents,
    astreamed,
    events,
    passages,
    streamed,
)

from responsa.programs import LLMCall, Program, ask, count, hidden
from responsa.response_synthesizers import Answer, BaseSynthesizer, Refine, Task
from responsa.schema.completions import Sampling
from responsa.schema.errors import StepFailed
from responsa.schema.events import AnswerReplaced, TextDelta
from responsa.schema.messages import ChatMessage
from responsa.schema.response import Outcome, Response
from responsa.testing import ScriptedLLM

EVERY_WAY = pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)
BOTH_STREAMS = pytest.mark.parametrize("stream_it", [streamed, astreamed], ids=["blocking", "async"])
BOTH_EVENTS = pytest.mark.parametrize("told_by", [events, aevents], ids=["blocking", "async"])
TWO = passages("Passage one.", "Passage two.")


class Overriding(BaseSynthesizer):
    """As LlamaIndex users write one."""

    def __init__(self, llm: ScriptedLLM | None = None, **options: Any) -> None:
        super().__init__(llm, **options)
        self.asked: list[tuple[str, tuple[str, ...], dict[str, Any]]] = []

    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
        self.asked.append((query_str, tuple(text_chunks), response_kwargs))
        return f"{len(text_chunks)} texts, blocking"

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
        self.asked.append((query_str, tuple(text_chunks), response_kwargs))
        return f"{len(text_chunks)} texts, async"


class Piecewise(BaseSynthesizer):
    """Gives its answer in pieces."""

    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Iterator[str]:
        yield from ("One ", "owner ", "[1].")

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
        async def pieces() -> AsyncIterator[str]:
            for piece in ("One ", "owner ", "[1]."):
                yield piece

        return pieces()


class PlainPieces(Piecewise):
    """Gives its answer in pieces that are not awaited, also where it is asked without blocking."""

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
        return self.get_response(query_str, text_chunks)


PIECEWISE = pytest.mark.parametrize("mode", [Piecewise, PlainPieces])


class TwoSteps(BaseSynthesizer):
    """Writes a program: a hidden call, then the answer."""

    def program(self, task: Task) -> Program[Answer | str]:
        (length,) = yield from count([passage.body for passage in task.passages][:1])
        hidden = yield from ask(self._call("think", f"{task.query_str} {length}", visible=False))
        answer = yield from ask(self._call("answer", hidden.text, visible=True))
        return Answer(answer.text)

    def _call(self, stage: str, text: str, *, visible: bool) -> LLMCall:
        return LLMCall(stage, (ChatMessage("user", text),), Sampling(max_tokens=20), visible=visible)


@EVERY_WAY
def test_an_overriding_mode_answers_in_every_way(respond: Callable[..., Response]) -> None:
    mode = Overriding(ScriptedLLM())
    response = respond(mode, QUESTION, TWO, tone="dry")
    assert response.text in ("2 texts, blocking", "2 texts, async")
    assert response.text.endswith("async") == (respond in (RESPONDING["asynthesize"], RESPONDING["astream_events"]))
    assert mode.asked == [(QUESTION, ("Passage one.", "Passage two."), {"tone": "dry"})]
    assert (response.outcome, response.source_nodes, response.trace) == (Outcome.ANSWERED, TWO, ())


@BOTH_STREAMS
def test_an_overriding_mode_streams_its_text_as_one_piece(stream_it: Callable[..., Any]) -> None:
    pieces, response = stream_it(Overriding(ScriptedLLM(), streaming=True), QUESTION, TWO)
    assert pieces == [response.text]


@EVERY_WAY
@PIECEWISE
def test_an_answer_given_in_pieces_comes_together(
    respond: Callable[..., Response], mode: type[BaseSynthesizer]
) -> None:
    assert respond(mode(ScriptedLLM()), QUESTION, TWO).text == "One owner [1]."


@BOTH_STREAMS
@PIECEWISE
def test_an_answer_given_in_pieces_is_streamed_in_them(
    stream_it: Callable[..., Any], mode: type[BaseSynthesizer]
) -> None:
    pieces, response = stream_it(mode(ScriptedLLM(), streaming=True), QUESTION, TWO)
    assert pieces == ["One ", "owner ", "[1]."]
    assert response.text == "One owner [1]."


@BOTH_EVENTS
@PIECEWISE
def test_an_answer_given_in_pieces_is_told_in_them(
    told_by: Callable[..., list[Any]], mode: type[BaseSynthesizer]
) -> None:
    told = told_by(mode(ScriptedLLM()), QUESTION, TWO)
    assert [event.text for event in told if isinstance(event, TextDelta)] == ["One ", "owner ", "[1]."]


@EVERY_WAY
def test_pieces_that_break_off_are_a_failed_step(respond: Callable[..., Response]) -> None:
    class Breaking(Piecewise):
        def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Iterator[str]:
            yield "One "
            raise KeyError("mine")

        async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
            return self.get_response(query_str, text_chunks)

    with pytest.raises(StepFailed, match="KeyError: 'mine'"):
        respond(Breaking(ScriptedLLM()), QUESTION, TWO)


def test_a_plan_never_calls_an_overriding_mode_and_names_it_as_open() -> None:
    for mode in (Overriding(ScriptedLLM()), Piecewise(ScriptedLLM())):
        planned = mode.plan(QUESTION, TWO)
        assert asyncio.run(mode.aplan(QUESTION, TWO)) == planned
        assert (planned.calls, planned.exact, planned.open_steps) == ((), False, (type(mode).__name__,))
        assert getattr(mode, "asked", []) == []


@EVERY_WAY
def test_an_exception_of_an_overriding_mode_is_a_failed_step_with_its_cause(respond: Callable[..., Response]) -> None:
    class Broken(Overriding):
        def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
            raise KeyError("mine")

        async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
            raise KeyError("mine")

    with pytest.raises(StepFailed, match="KeyError: 'mine'") as error:
        respond(Broken(ScriptedLLM()), QUESTION, TWO)
    assert isinstance(error.value.__cause__, KeyError)


@EVERY_WAY
def test_an_overriding_mode_may_return_an_object(respond: Callable[..., Response]) -> None:
    class Listing(Overriding):
        def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
            return list(text_chunks)

        async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
            return list(text_chunks)

    response = respond(Listing(ScriptedLLM()), QUESTION, TWO)
    assert response.value == ["Passage one.", "Passage two."]
    assert response.text == str(response.value)


@EVERY_WAY
def test_without_passages_an_overriding_mode_is_not_called(respond: Callable[..., Response]) -> None:
    mode = Overriding(ScriptedLLM())
    assert respond(mode, QUESTION, []).outcome is Outcome.NO_SOURCES
    assert mode.asked == []


@EVERY_WAY
def test_a_program_runs_in_every_way(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(["A thought.", "The answer."])
    response = respond(TwoSteps(llm), QUESTION, TWO)
    assert response.text == "The answer."
    assert [record.call.stage for record in response.trace] == ["think", "answer"]
    assert [prompt[0].content for prompt in llm.prompts] == [f"{QUESTION} 4", "A thought."]


@BOTH_STREAMS
def test_a_program_streams_its_visible_text_only(stream_it: Callable[..., Any]) -> None:
    pieces, response = stream_it(TwoSteps(ScriptedLLM(["A thought.", "The answer."]), streaming=True), QUESTION, TWO)
    assert "".join(pieces) == response.text == "The answer."


def test_a_program_is_planned_without_a_model() -> None:
    llm = ScriptedLLM()
    planned = TwoSteps(llm).plan(QUESTION, TWO)
    assert (planned.by_stage, planned.exact, llm.prompts) == ({"think": 1, "answer": 1}, True, [])


@EVERY_WAY
def test_a_program_may_return_its_text_alone(respond: Callable[..., Response]) -> None:
    class Fixed(BaseSynthesizer):
        def program(self, task: Task) -> Program[Answer | str]:
            return f"{len(task.passages)} passages"
            yield

    assert respond(Fixed(ScriptedLLM()), QUESTION, TWO).text == "2 passages"


def test_get_response_of_a_program_takes_bare_texts() -> None:
    assert TwoSteps(ScriptedLLM(["A thought.", "Yes."])).get_response(QUESTION, ["a", "b"]) == "Yes."
    mode = TwoSteps(ScriptedLLM(["A thought.", "Yes."]))
    assert asyncio.run(mode.aget_response(QUESTION, ["a", "b"])) == "Yes."


class Checked(BaseSynthesizer):
    """Runs other modes as parts of itself."""

    def program(self, task: Task) -> Program[Answer]:
        draft = yield from hidden(Refine().program(task))
        final = yield from Refine().program(replace(task, variables={"prev_response": draft.text}))
        return Answer(final.text)


@EVERY_WAY
def test_a_mode_may_be_a_part_of_another(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(["One.", "Two.", "Three.", "Four."])
    response = respond(Checked(llm), QUESTION, TWO)
    assert response.text == "Four."
    assert [record.call.stage for record in response.trace] == ["answer", "refine", "refine", "refine"]
    assert "Two." in llm.prompts[2][-1].content


@BOTH_EVENTS
def test_the_text_of_a_hidden_part_is_not_shown(told_by: Callable[..., list[Any]]) -> None:
    told = told_by(Checked(ScriptedLLM(["One.", "Two.", "Three.", "Four."])), QUESTION, TWO)
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == "Three.Four."
    assert [event.text for event in told if isinstance(event, AnswerReplaced)] == ["Four."]
    assert [call.visible for call in told[0].plan.calls] == [False, False, True, True]
