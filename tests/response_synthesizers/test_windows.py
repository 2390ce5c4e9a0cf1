"""The measured final prompt of every call fits the window beside its answer, whatever the input and the tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packing.models import AnswerHeavyLLM, GrowingLLM, NumberHeavyLLM
from tests.packing.texts import CHINESE, ENGLISH, sources
from tests.response_synthesizers.scenes import long_passages, synthesized

from responsa.response_synthesizers import CompactAndRefine, Refine
from responsa.schema.errors import WindowTooSmall
from responsa.schema.nodes import NodeWithScore
from responsa.testing import ScriptedLLM

ANSWERS = ["An owner [1].", "", "I don't know.", "word " * 900, "答案，" * 500, "a. " * 400]
QUESTIONS = ["Who owns a value?", "谁拥有这个值？", ENGLISH * 3, CHINESE * 3]


def check(llm: ScriptedLLM, mode: type[Refine], question: str, nodes: list[NodeWithScore], **options: int) -> bool:
    """Run, and check every prompt that was sent; false if the window was refused, with its numbers."""
    refused: WindowTooSmall | None = None
    try:
        response = synthesized(mode(llm), question, nodes, llm_kwargs=options)
    except WindowTooSmall as error:
        refused = error
    if refused is not None:
        assert refused.window == llm.metadata.context_window
        assert refused.table
        assert llm.prompts == [] or type(llm) is not ScriptedLLM
    else:
        measured = [record.call.prompt_tokens for record in response.trace]
        assert measured == llm.count_prompts(llm.prompts)
        assert [record.error for record in response.trace] == [None] * len(measured)
    for tokens, sampling in zip(llm.count_prompts(llm.prompts), llm.samplings, strict=True):
        assert sampling.max_tokens is not None
        assert tokens + sampling.max_tokens <= llm.metadata.context_window
    return refused is None


@given(
    nodes=sources(max_size=5),
    answer=st.sampled_from(ANSWERS),
    question=st.sampled_from(QUESTIONS),
    window=st.integers(300, 4096),
    num_output=st.integers(1, 1000),
    max_tokens=st.sampled_from([None, 1, 60, 700]),
    model=st.sampled_from([ScriptedLLM, AnswerHeavyLLM, GrowingLLM, NumberHeavyLLM]),
    mode=st.sampled_from([Refine, CompactAndRefine]),
)
def test_every_prompt_fits_or_the_window_is_refused(
    nodes: list[NodeWithScore],
    answer: str,
    question: str,
    window: int,
    num_output: int,
    max_tokens: int | None,
    model: type[ScriptedLLM],
    mode: type[Refine],
) -> None:
    llm = model(answer, context_window=window, num_output=num_output)
    check(llm, mode, question, nodes, **({"max_tokens": max_tokens} if max_tokens else {}))


@pytest.mark.parametrize("mode", [Refine, CompactAndRefine])
@pytest.mark.parametrize("model", [ScriptedLLM, AnswerHeavyLLM, GrowingLLM, NumberHeavyLLM])
@pytest.mark.parametrize("window", [512, 1024, 4096])
@pytest.mark.parametrize("answer", ANSWERS, ids=["plain", "empty", "refusal", "long", "long Chinese", "many sentences"])
def test_usual_windows_are_enough(window: int, model: type[ScriptedLLM], mode: type[Refine], answer: str) -> None:
    assert check(model(answer, context_window=window, num_output=256), mode, "Who owns it?", long_passages(12))
