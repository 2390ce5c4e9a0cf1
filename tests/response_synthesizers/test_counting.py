"""What is counted: each count may be a request to the server, so the usual question takes one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.response_synthesizers.scenes import QUESTION, long_passages, passages, stages, synthesized

from responsa import PromptHelper, get_response_synthesizer
from responsa.response_synthesizers import CompactAndRefine, Refine
from responsa.schema.messages import ChatMessage
from responsa.testing import ScriptedLLM

PACKING = ["compact", "simple_summarize", "tree_summarize", "compact_accumulate"]


class CountedLLM(ScriptedLLM):
    """Keeps what it was asked to count."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.texts: list[str] = []
        self.measured: list[Sequence[ChatMessage]] = []
        self._measuring = False

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if not self._measuring:
            self.texts += texts
        return super().count_tokens(texts)

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        self.measured += prompts
        self._measuring = True
        counts = super().count_prompts(prompts)
        self._measuring = False
        return counts


def asked(llm: CountedLLM) -> tuple[int, int]:
    """How many prompts were measured and how many texts counted, the sending of the prompts left aside."""
    return len(llm.measured) - len(llm.prompts), len(llm.texts)


@pytest.mark.parametrize("mode", PACKING)
def test_passages_that_fit_into_one_prompt_are_counted_once_and_with_it(mode: str) -> None:
    llm = CountedLLM("An owner [1].")
    response = synthesized(get_response_synthesizer(llm, response_mode=mode), QUESTION, passages("a", "b", "c"))
    assert asked(llm) == (1, 0)
    assert llm.measured[0] == llm.prompts[0]
    assert [row.shown for row in response.coverage] == ["whole"] * 3


@pytest.mark.parametrize("mode", ["refine", "accumulate"])
def test_so_is_a_single_passage(mode: str) -> None:
    llm = CountedLLM("An owner [1].")
    synthesized(get_response_synthesizer(llm, response_mode=mode), QUESTION, passages("a"))
    assert asked(llm) == (1, 0)


@pytest.mark.parametrize("mode", PACKING)
def test_passages_that_are_far_too_many_are_not_tried_whole(mode: str) -> None:
    llm = CountedLLM("An owner [1].", context_window=900, num_output=100)
    synthesized(
        get_response_synthesizer(llm, response_mode=mode, use_async=False), QUESTION, long_passages(20, times=8)
    )
    assert max(map(llm.count_prompts, [[prompt] for prompt in llm.measured])) <= [900]


def test_a_limit_of_packs_is_kept_also_where_all_would_fit() -> None:
    llm = CountedLLM("An owner [1].")
    mode = CompactAndRefine(llm, prompt_helper=PromptHelper(chunk_size_limit=100))
    assert len(synthesized(mode, QUESTION, long_passages(4, times=1)).trace) == 4


def test_a_short_answer_is_carried_on_without_being_counted() -> None:
    llm = CountedLLM(["Ann.", "Ann and Bo.", "All."])
    response = synthesized(Refine(llm), QUESTION, passages("a", "b", "c"))
    assert stages(response) == ["answer", "refine", "refine"]
    assert not any("Ann" in text for text in llm.texts)


def test_an_earlier_answer_makes_the_first_call_a_refining_one() -> None:
    for mode in (Refine, CompactAndRefine):
        llm = ScriptedLLM("Better.")
        response = synthesized(mode(llm), QUESTION, passages("a"), prev_response="An earlier answer.")
        assert (response.text, stages(response)) == ("Better.", ["refine"])
        assert "An earlier answer." in llm.prompts[0][-1].content
        kept = synthesized(mode(ScriptedLLM("I don't know.")), QUESTION, passages("a"), prev_response="Earlier.")
        assert kept.text == "Earlier."
