"""How an answer can come out: nothing found, refused, failed and answered are told apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.response_synthesizers.scenes import QUESTION, RESPONDING, codes, passages, synthesized

from responsa.response_synthesizers import BaseSynthesizer, CompactAndRefine, Refine
from responsa.schema.errors import EmptyQuestion, InvalidOption, MissingMethod, MissingPart, QuestionTooLong
from responsa.schema.nodes import NodeWithScore, QueryBundle, TextNode
from responsa.schema.plans import Shown
from responsa.schema.response import Outcome, Response
from responsa.settings import Settings
from responsa.testing import ScriptedLLM

EVERY_WAY = pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)
MODES = pytest.mark.parametrize("mode", [Refine, CompactAndRefine], ids=["refine", "compact"])
NOTHING = {
    "en": "Nothing was found in the documents for this question.",
    "zh": "在文档中没有找到与这个问题有关的内容。",
}
BLANK = [NodeWithScore(TextNode(text, metadata={"title": "T"})) for text in ("", "  ", "\n\u3000\t")]


@EVERY_WAY
@MODES
@pytest.mark.parametrize("nodes", [[], BLANK], ids=["none", "blank"])
@pytest.mark.parametrize(("question", "language"), [(QUESTION, "en"), ("谁拥有这个值？", "zh")])
def test_without_text_to_answer_from_no_call_is_made(
    respond: Callable[..., Response],
    mode: type[Refine],
    nodes: list[NodeWithScore],
    question: str,
    language: str,
) -> None:
    llm = ScriptedLLM()
    response = respond(mode(llm), question, nodes)
    assert llm.prompts == []
    assert (response.text, response.outcome, response.grounded) == ("", Outcome.NO_SOURCES, False)
    assert str(response) == NOTHING[language]
    assert response.source_nodes == nodes
    assert response.trace == response.citations == response.warnings == ()
    assert {row.shown for row in response.coverage} <= {Shown.NOT}
    assert mode(llm).plan(question, nodes).calls == ()


def test_the_sentence_that_nothing_was_found_may_be_ones_own() -> None:
    response = synthesized(CompactAndRefine(ScriptedLLM(), empty_response="Nope."), QUESTION, [])
    assert (str(response), response.text) == ("Nope.", "")
    assert str(synthesized(CompactAndRefine(ScriptedLLM(), empty_response=""), QUESTION, [])) == ""


@EVERY_WAY
@MODES
@pytest.mark.parametrize("question", ["", "   ", "\n\t\u3000", QueryBundle(" ")])
def test_an_empty_question_is_refused(respond: Callable[..., Response], mode: type[Refine], question: str) -> None:
    llm = ScriptedLLM()
    with pytest.raises(EmptyQuestion):
        respond(mode(llm), question, passages("One."))
    assert llm.prompts == []


@EVERY_WAY
def test_a_question_of_a_megabyte_is_refused_with_its_length(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM()
    with pytest.raises(QuestionTooLong) as error:
        respond(CompactAndRefine(llm), "why " * 250_000, passages("One."))
    assert error.value.n_characters == 1_000_000
    assert llm.prompts == []


@EVERY_WAY
def test_an_answer_of_the_model_is_answered_and_prints_itself(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(" One owner [1]. \n", reasoning="Hm, who?")
    response = respond(CompactAndRefine(llm), QUESTION, passages("There is one owner."))
    assert (str(response), response.outcome, response.refused) == ("One owner [1].", Outcome.ANSWERED, False)
    assert response.reasoning == "Hm, who?"
    assert response.metadata == {"n1": {}}
    assert codes(response) == []
    (record,) = response.trace
    assert record.completion is not None
    assert response.usage == record.completion.usage
    assert response.usage.prompt_tokens == record.call.prompt_tokens


@pytest.mark.parametrize("answer", ["", " \n"])
@EVERY_WAY
def test_an_answer_without_words_is_told(respond: Callable[..., Response], answer: str) -> None:
    response = respond(CompactAndRefine(ScriptedLLM(answer)), QUESTION, passages("a"))
    assert (response.text, codes(response)) == ("", ["answer_empty"])


def test_a_cut_answer_is_told() -> None:
    response = synthesized(
        CompactAndRefine(ScriptedLLM("one " * 50)), QUESTION, passages("a"), llm_kwargs={"max_tokens": 9}
    )
    assert [(one.code, one.details) for one in response.warnings] == [
        ("answer_cut", {"stage": "answer", "max_tokens": 9})
    ]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("One [7]. Two [1, 9]. `v[5]`", "[7], [9]"),
        (" ".join(f"So [{n}]." for n in range(2, 30)), ", ".join(f"[{n}]" for n in range(2, 22)) + ", …"),
    ],
)
def test_numbers_that_no_passage_has_are_told_at_once(text: str, numbers: str) -> None:
    response = synthesized(CompactAndRefine(ScriptedLLM(text)), QUESTION, passages("a"))
    assert [(one.code, one.details) for one in response.warnings] == [("unknown_citation", {"numbers": numbers})]


def test_additional_sources_are_listed_and_not_shown() -> None:
    llm = ScriptedLLM("One owner.")
    shown, listed = passages("There is one owner.", "Never shown.")
    response = synthesized(CompactAndRefine(llm), QUESTION, [shown], [listed])
    assert response.source_nodes == [shown, listed]
    assert "Never shown." not in llm.prompts[0][-1].content
    assert [row.shown for row in response.coverage] == [Shown.WHOLE, Shown.NOT]


def test_a_missing_model_is_named_and_the_settings_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingPart, match="CompactAndRefine needs an LLM"):
        CompactAndRefine().synthesize(QUESTION, passages("a"))
    monkeypatch.setattr(Settings, "llm", ScriptedLLM("From the settings."))
    assert synthesized(CompactAndRefine(), QUESTION, passages("a")).text == "From the settings."


def test_a_mode_of_ones_own_without_any_method_is_named() -> None:
    class Mine(BaseSynthesizer):
        pass

    with pytest.raises(MissingMethod, match="Mine does not define program"):
        Mine(ScriptedLLM()).synthesize(QUESTION, passages("a"))


@pytest.mark.parametrize("max_tokens", [0, -1, 1.5, "9"])
def test_a_senseless_limit_of_tokens_is_refused(max_tokens: object) -> None:
    with pytest.raises(InvalidOption, match="max_tokens"):
        CompactAndRefine(ScriptedLLM()).synthesize(QUESTION, passages("a"), llm_kwargs={"max_tokens": max_tokens})
