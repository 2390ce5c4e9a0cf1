"""A server that counts more tokens than were estimated: the passages are packed once again, and no more than once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from typing import Any

import pytest
from tests.faults import PATIENCE, FaultServer, answer_of, reply
from tests.response_synthesizers.scenes import QUESTION, RESPONDING, codes, events, long_passages, stages, synthesized

from responsa import get_response_synthesizer
from responsa.llms.openai_like import OpenAILike
from responsa.response_synthesizers import Accumulate, CompactAndRefine
from responsa.schema.completions import Sampling, StreamItem
from responsa.schema.errors import ContextWindowExceeded
from responsa.schema.events import WarningRaised
from responsa.schema.messages import ChatMessage
from responsa.schema.response import Outcome, Response
from responsa.testing import ScriptedLLM

EVERY_WAY = pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)
WINDOW = 1200


class Undercounting(ScriptedLLM):
    """A model whose server counts every prompt `factor` times as long as was estimated, and says so if `tells`."""

    def __init__(self, factor: float, *, tells: bool = True, served: int = WINDOW) -> None:
        super().__init__("An owner.", context_window=WINDOW, num_output=100)
        self.factor = factor
        self.tells = tells
        self.served = served
        self.refused = 0

    def check(self, messages: Sequence[ChatMessage]) -> None:
        counted = int(self.factor * self.count_prompts([messages])[0])
        if counted >= self.served:
            self.refused += 1
            numbers = (counted, self.served) if self.tells else (None, None)
            raise ContextWindowExceeded("http://h/v1", *numbers)

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        self.check(messages)
        yield from super().stream(messages, sampling)

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        self.check(messages)
        async for item in super().astream(messages, sampling):
            yield item


@EVERY_WAY
@pytest.mark.parametrize("mode", ["compact", "tree_summarize", "simple_summarize", "compact_accumulate"])
def test_passages_are_packed_again_for_what_the_server_counted(respond: Callable[..., Response], mode: str) -> None:
    llm = Undercounting(2.2)
    synthesizer = get_response_synthesizer(llm, response_mode=mode, use_async=False)
    response = respond(synthesizer, QUESTION, long_passages(8))
    assert codes(response).count("repacked") == 1
    assert response.outcome is Outcome.ANSWERED
    assert llm.refused >= 1
    assert [record.error is not None for record in response.trace][: llm.refused] == [True] * llm.refused
    if mode != "simple_summarize":
        assert all(row.shown == "whole" for row in response.coverage)


@EVERY_WAY
def test_a_server_that_tells_no_numbers_gets_less_too(respond: Callable[..., Response]) -> None:
    response = respond(CompactAndRefine(Undercounting(1.6, tells=False)), QUESTION, long_passages(8))
    assert codes(response) == ["repacked"]
    assert all(row.shown == "whole" for row in response.coverage)


@EVERY_WAY
def test_a_window_smaller_than_was_thought_is_kept_to(respond: Callable[..., Response]) -> None:
    response = respond(CompactAndRefine(Undercounting(1.0, served=700)), QUESTION, long_passages(8))
    assert codes(response) == ["repacked"]
    assert all(row.shown == "whole" for row in response.coverage)


def test_it_is_done_once_and_never_again() -> None:
    llm = Undercounting(1.5, tells=False, served=300)
    with pytest.raises(ContextWindowExceeded):
        synthesized(CompactAndRefine(llm), QUESTION, long_passages(8))
    assert llm.refused == 2


def test_it_is_not_done_once_a_part_of_the_answer_was_shown() -> None:
    class LongOnesRefused(Undercounting):
        def check(self, messages: Sequence[ChatMessage]) -> None:
            if "Passage 2." in messages[-1].content:
                raise ContextWindowExceeded("http://h/v1", 5000, 4096)

    response = synthesized(Accumulate(LongOnesRefused(1.0), use_async=False), QUESTION, long_passages(3))
    assert codes(response) == ["step_failed", "passages_cut"]
    assert (stages(response), response.outcome) == (["answer"] * 3, Outcome.STEP_FAILED)


def test_readers_of_events_are_told() -> None:
    told = events(CompactAndRefine(Undercounting(2.2)), QUESTION, long_passages(8))
    notices = [event.notice for event in told if isinstance(event, WarningRaised)]
    assert [notice.code for notice in notices] == ["repacked"]
    assert 0 < notices[0].details["window"] < WINDOW


def test_a_server_without_a_tokenizer_is_asked_again_with_less_and_the_next_question_fits_at_once(
    faults: FaultServer,
) -> None:
    """The estimate is corrected by what the refusal says."""
    refusals: list[int] = []

    class Counting:
        """Refuses what is longer than 1,000 of its own tokens, one for every other character."""

        def __iter__(self) -> Any:
            length = len(faults.received[-1].json["messages"][-1]["content"]) // 2
            if length < 1000:
                return iter([answer_of("An owner.")])
            refusals.append(length)
            error = {"code": 400, "type": "exceed_context_size_error", "message": "too long"}
            return iter([reply({"error": {**error, "n_prompt_tokens": length, "n_ctx": 1000}}, 400)])

    faults.on("GET /v1/models", reply({"data": [{"id": "m"}]})).on("POST /v1/chat/completions", Counting())
    llm = OpenAILike("m", api_base=faults.url, context_window=1000, max_tokens=50, timeout=PATIENCE, max_retries=0)
    synthesizer = CompactAndRefine(llm, use_async=False)
    first = synthesized(synthesizer, QUESTION, long_passages(12))
    assert codes(first) == ["repacked"]
    assert len(refusals) == 1
    assert synthesized(synthesizer, "Another question?", long_passages(12)).warnings == ()
    assert len(refusals) == 1
    llm.close()
