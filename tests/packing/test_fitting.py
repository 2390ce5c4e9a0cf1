"""Fitting: what is sent was measured, and fits beside the answer, whatever the tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packing.models import GrowingLLM, NumberHeavyLLM
from tests.packing.texts import CHINESE, ENGLISH, sources

from responsa.packing.budget import Budget, share_out
from responsa.packing.fitting import Fitted, fit
from responsa.packing.packer import count_passages, pack, pack_each
from responsa.packing.passages import EMPTY, Pack, passages_of
from responsa.programs import Program, measure, run
from responsa.schema.errors import WindowTooSmall
from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.schema.protocols import LLM
from responsa.testing import ScriptedLLM

MODELS = [ScriptedLLM(), GrowingLLM(), NumberHeavyLLM()]


def build(pack: Pack) -> tuple[ChatMessage, ...]:
    return ChatMessage("system", "Answer from the passages."), ChatMessage("user", f"Why?\n\n{pack.render()}")


def shares(window: int, wanted: int) -> Program[Budget]:
    (fixed,) = yield from measure([build(EMPTY)])
    return share_out(window, fixed, wanted)


def fitted(nodes: list[NodeWithScore], llm: LLM, window: int, wanted: int, packer: object = pack) -> tuple[Fitted, int]:
    """Fit passages, and return what came of it with the answer's reserve."""
    assert callable(packer)

    def program() -> Program[tuple[Fitted, int]]:
        budget = yield from shares(window, wanted)
        counted = yield from count_passages(passages_of(nodes))
        return (yield from fit(counted, build, budget, packer=packer)), budget.output

    return run(program(), llm)


@given(
    sources(), st.integers(120, 1500), st.integers(1, 400), st.sampled_from(MODELS), st.sampled_from([pack, pack_each])
)
def test_every_measured_prompt_fits_beside_the_answer_or_the_error_carries_the_numbers(
    nodes: list[NodeWithScore], window: int, wanted: int, llm: LLM, packer: object
) -> None:
    refused: WindowTooSmall | None = None
    try:
        result, output = fitted(nodes, llm, window, wanted, packer)
    except WindowTooSmall as error:
        refused = error
    if refused is not None:
        assert refused.window == window
        assert refused.table
        return
    assert result.messages == [build(one) for one in result.packs]
    assert result.tokens == llm.count_prompts(result.messages)
    assert all(tokens + output <= window for tokens in result.tokens)
    shown = "".join(piece.passage.text[piece.start : piece.end] for one in result.packs for piece in one.pieces)
    assert shown == "".join(source.text for source in nodes if source.text.strip())


@pytest.mark.parametrize("llm", MODELS, ids=["additive", "growing", "heavy numbers"])
@pytest.mark.parametrize("window", [300, 512, 1024, 4096])
def test_ordinary_passages_fit_every_usual_window(llm: LLM, window: int) -> None:
    nodes = [NodeWithScore(TextNode(text * 4)) for text in (ENGLISH, CHINESE) * 8]
    result, output = fitted(nodes, llm, window, 64)
    assert all(tokens + output <= window for tokens in result.tokens)


def test_only_the_first_prompts_are_measured_where_that_is_asked() -> None:
    nodes = [NodeWithScore(TextNode(ENGLISH * 4)) for _ in range(8)]

    def program() -> Program[Fitted]:
        budget = yield from shares(300, 64)
        counted = yield from count_passages(passages_of(nodes))
        return (yield from fit(counted, build, budget, measured=1))

    result = run(program(), ScriptedLLM())
    assert len(result.packs) > 1
    assert len(result.messages) == len(result.tokens) == 1


def test_a_prompt_that_cannot_fit_is_refused_with_the_table() -> None:
    class Hopeless(ScriptedLLM):
        def count_prompts(self, prompts):
            return [5000 if "Body." in prompt[-1].content else 50 for prompt in prompts]

    with pytest.raises(WindowTooSmall) as error:
        fitted([NodeWithScore(TextNode("Body."))], Hopeless(), 400, 64)
    assert dict(error.value.table) == {"fixed messages": 50, "answer": 64, "context": 278, "excess": 4664}
