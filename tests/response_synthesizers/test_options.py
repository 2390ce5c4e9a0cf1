"""What a synthesizer is given: used, or refused naming the mode; never swallowed, never changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.response_synthesizers.scenes import QUESTION, RESPONDING, codes, long_passages, passages, synthesized

import responsa.response_synthesizers as modes
from responsa import (
    ChatPromptHelper,
    PromptHelper,
    PromptTemplate,
    RichPromptTemplate,
    Settings,
    get_response_synthesizer,
)
from responsa.response_synthesizers import (
    Accumulate,
    CompactAndRefine,
    ContextOnly,
    Generation,
    NoText,
    Refine,
    ResponseMode,
    SimpleSummarize,
    TreeSummarize,
)
from responsa.schema.errors import InvalidOption, MissingPart, TemplateError, UnknownOption
from responsa.schema.messages import ChatMessage
from responsa.testing import ScriptedLLM

TEMPLATE = PromptTemplate("{context_str} {query_str}")
EVERY_WAY = pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)
# Which of the factory's keywords each mode can use, beside those that all can.
OWN = {
    "refine": {"text_qa_template", "refine_template", "chat_content_qa_template", "chat_content_refine_template"},
    "simple_summarize": {"text_qa_template", "chat_content_qa_template"},
    "tree_summarize": {"summary_template", "chat_summary_template"},
    "generation": {"simple_template"},
    "accumulate": {"text_qa_template", "chat_content_qa_template"},
    "no_text": set(),
    "context_only": set(),
}
OWN["refine"].add("structured_answer_filtering")
OWN |= {"compact": OWN["refine"], "compact_accumulate": OWN["accumulate"]}
TEMPLATES = sorted({name for names in OWN.values() for name in names if name.endswith("template")})
OF_CALLS: dict[str, Any] = {
    "prompt_helper": PromptHelper(),
    "chat_prompt_helper": ChatPromptHelper(),
    "concurrency": 2,
    "use_async": True,
}


@pytest.mark.parametrize("mode", [mode.value for mode in ResponseMode])
@pytest.mark.parametrize("name", [*TEMPLATES, "structured_answer_filtering", *OF_CALLS])
def test_a_mode_takes_what_it_can_use_and_refuses_the_rest_by_its_name(mode: str, name: str) -> None:
    value = True if name == "structured_answer_filtering" else OF_CALLS.get(name, TEMPLATE)
    usable = name in OWN[mode] or (name in OF_CALLS and mode not in ("no_text", "context_only"))
    if usable:
        get_response_synthesizer(ScriptedLLM(), response_mode=mode, **{name: value})
        return
    with pytest.raises(UnknownOption, match=rf"the mode {mode} has no {name}\. Known: .*streaming") as refused:
        get_response_synthesizer(ScriptedLLM(), response_mode=mode, **{name: value})
    assert isinstance(refused.value, TypeError)


@pytest.mark.parametrize("cls", [Refine, SimpleSummarize, TreeSummarize, Generation, Accumulate, NoText, ContextOnly])
def test_a_class_refuses_an_unknown_keyword_by_its_mode(cls: Any) -> None:
    with pytest.raises(UnknownOption, match=f"the mode {cls.mode} has no colour"):
        cls(ScriptedLLM(), colour="red")


def test_an_unknown_mode_and_senseless_numbers_are_refused() -> None:
    with pytest.raises(InvalidOption, match=r"response_mode cannot be best: .*compact"):
        get_response_synthesizer(response_mode="best")
    for number in (0, -1):
        with pytest.raises(InvalidOption, match="concurrency"):
            Accumulate(ScriptedLLM(), concurrency=number)
    with pytest.raises(InvalidOption, match="num_output"):
        PromptHelper(100, 100)
    for ratio in (-0.1, 1.0):
        with pytest.raises(InvalidOption, match="chunk_overlap_ratio"):
            PromptHelper(chunk_overlap_ratio=ratio)
    with pytest.raises(InvalidOption, match="chunk_size_limit"):
        ChatPromptHelper(chunk_size_limit=0)


def test_every_class_is_exported() -> None:
    classes = {
        "Accumulate",
        "CompactAndAccumulate",
        "CompactAndRefine",
        "ContextOnly",
        "Generation",
        "NoText",
        "Refine",
    }
    assert classes | {"SimpleSummarize", "TreeSummarize", "BaseSynthesizer"} <= set(modes.__all__)
    assert all(hasattr(modes, name) for name in modes.__all__)


@EVERY_WAY
@pytest.mark.parametrize(
    "mode",
    ["refine", "compact", "tree_summarize", "simple_summarize", "accumulate", "compact_accumulate", "generation"],
)
def test_how_a_query_is_to_be_generated_reaches_every_request(respond: Any, mode: str) -> None:
    llm = ScriptedLLM("An answer.", context_window=900, num_output=100)
    synthesizer = get_response_synthesizer(llm, response_mode=mode)
    options = {"temperature": 0.7, "top_p": 0.5, "seed": 3, "stop": "END", "max_tokens": 9, "min_p": 0.1}
    respond(synthesizer, QUESTION, long_passages(3, times=8), llm_kwargs=options)
    assert llm.samplings
    for sampling in llm.samplings:
        assert (sampling.temperature, sampling.top_p, sampling.seed, sampling.stop) == (0.7, 0.5, 3, ("END",))
        assert sampling.max_tokens is not None
        assert sampling.max_tokens <= 9
        assert sampling.extra == {"min_p": 0.1}
    assert not any("0.7" in message.content for prompt in llm.prompts for message in prompt)
    respond(synthesizer, QUESTION, passages("a"))
    assert llm.samplings[-1].temperature is None


def test_further_keywords_are_variables_of_the_template() -> None:
    llm = ScriptedLLM("Yes.")
    mode = CompactAndRefine(llm, text_qa_template=PromptTemplate("{tone} {context_str} {query_str} {unknown}"))
    synthesized(mode, QUESTION, passages("a"), tone="Dry.")
    assert llm.prompts[0][0].content.startswith("Dry. ")
    assert llm.prompts[0][0].content.endswith("{unknown}")


@pytest.mark.parametrize("mode", [mode.value for mode in ResponseMode])
def test_nothing_the_caller_gave_is_changed(mode: str) -> None:
    nodes = long_passages(4, times=8)
    nodes[0].metadata["title"] = "T"
    options = {"stop": ["x"], "grammar": {"a": [1]}}
    template_before = copy.deepcopy(TEMPLATE.__dict__)
    before = copy.deepcopy((nodes, options))
    llm = ScriptedLLM("An answer [1].", context_window=900, num_output=100)
    metadata = llm.metadata
    own = {name: TEMPLATE for name in OWN[mode] if name.endswith("template")}
    settings = {name: getattr(Settings, name) for name in ("llm", "prompt_helper", "callback_manager", "language")}
    synthesizer = get_response_synthesizer(llm, response_mode=mode, **own)
    response = synthesized(synthesizer, QUESTION, nodes, llm_kwargs=options)
    response.source_nodes.clear()
    response.metadata["n1"]["title"] = "changed"  # type: ignore[index]
    synthesizer.get_prompts().clear()
    assert (nodes, options) == before
    assert TEMPLATE.__dict__ == template_before
    assert llm.metadata is metadata
    assert {name: getattr(Settings, name) for name in settings} == settings
    assert len(synthesizer.get_prompts()) == len([name for name in own if not name.startswith("chat_")])


def test_a_prompt_helper_shares_out_the_window_in_place_of_the_model() -> None:
    nodes = long_passages(6, times=4)
    for helper, calls in ((None, 1), (PromptHelper(900, 100), 3), (PromptHelper(chunk_size_limit=220), 6)):
        llm = ScriptedLLM("Yes.")
        response = synthesized(
            get_response_synthesizer(llm, response_mode="compact", prompt_helper=helper), QUESTION, nodes
        )
        assert (len(response.trace), codes(response)) == (calls, [])
    assert synthesized(CompactAndRefine(ScriptedLLM(), prompt_helper=PromptHelper(10**6)), QUESTION, nodes).trace
    assert llm.samplings[0].max_tokens == 256


def test_a_helper_may_ask_for_overlap_of_what_must_be_cut() -> None:
    nodes = passages(" ".join(f"Sentence number {n} is here." for n in range(200)))
    shown: dict[float, int] = {}
    for ratio in (0.0, 0.3):
        llm = ScriptedLLM("Yes.", context_window=700, num_output=100)
        helper = PromptHelper(700, 100, chunk_overlap_ratio=ratio)
        mode = get_response_synthesizer(llm, response_mode="accumulate", prompt_helper=helper)
        response = synthesized(mode, QUESTION, nodes)
        assert response.coverage[0].shown == "whole"
        shown[ratio] = sum(prompt[-1].content.count("Sentence number") for prompt in llm.prompts)
    assert shown[0.0] == 200
    assert 220 < shown[0.3] < 300


def test_the_settings_stand_in_and_explicit_arguments_win(monkeypatch: pytest.MonkeyPatch) -> None:
    set_llm, given = ScriptedLLM("Set."), ScriptedLLM("Given.")
    early = get_response_synthesizer()
    with pytest.raises(MissingPart, match="CompactAndRefine needs an LLM"):
        early.synthesize(QUESTION, passages("a"))
    monkeypatch.setattr(Settings, "llm", set_llm)
    monkeypatch.setattr(Settings, "language", "zh")
    monkeypatch.setattr(Settings, "prompt_helper", PromptHelper(900, 77))
    assert str(early.synthesize(QUESTION, passages("a"))) == "Set."
    assert "资料" in set_llm.prompts[0][0].content
    assert set_llm.samplings[0].max_tokens == 77
    mode = get_response_synthesizer(given, language="en", prompt_helper=PromptHelper(900, 55))
    assert str(mode.synthesize(QUESTION, passages("a"))) == "Given."
    assert "资料" not in given.prompts[0][0].content
    assert given.samplings[0].max_tokens == 55
    assert len(set_llm.prompts) == 1


def test_a_template_sees_the_model_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    from responsa import SelectorPromptTemplate

    monkeypatch.setattr(Settings, "llm", ScriptedLLM("Set."))
    chosen = SelectorPromptTemplate(TEMPLATE, [(lambda llm: llm is Settings.llm, PromptTemplate("Mine {query_str}"))])
    synthesized(get_response_synthesizer(text_qa_template=chosen), QUESTION, passages("a"))
    assert Settings.llm.prompts[0][0].content.startswith("Mine")  # type: ignore[union-attr]


def test_a_default_template_that_is_given_back_stays_the_default() -> None:
    llm = ScriptedLLM("Yes.")
    mode = get_response_synthesizer(llm, response_mode="compact")
    shown = mode.get_prompts()
    assert all("{query_str}" in prompt.get_template() for prompt in shown.values())
    mode.update_prompts(shown)
    synthesized(mode, "谁拥有它？", passages("a"))
    assert "资料" in llm.prompts[0][0].content
    mode.update_prompts({"text_qa_template": TEMPLATE})
    assert mode.get_prompts()["text_qa_template"] is TEMPLATE
    with pytest.raises(UnknownOption, match=r"CompactAndRefine has no summary_template.*text_qa_template"):
        mode.update_prompts({"summary_template": TEMPLATE})
    with pytest.raises(UnknownOption, match="llm:text_qa_template"):
        mode.update_prompts({"llm:text_qa_template": TEMPLATE})


@pytest.mark.parametrize(("mode", "names"), [(mode, names) for mode, names in OWN.items()])
def test_a_mode_shows_its_templates_by_name(mode: str, names: set[str]) -> None:
    templates = {name for name in names if name.endswith("template")}
    texts = {name for name in templates if not name.startswith("chat_")}
    assert set(get_response_synthesizer(response_mode=mode).get_prompts()) == texts
    if mode not in ("generation", "no_text", "context_only"):
        shown = get_response_synthesizer(response_mode=mode, multimodal=True).get_prompts()
        assert set(shown) == templates - texts


@pytest.mark.parametrize(
    "attack",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ query_str.__class__ }}",
        "{% set x = [].append(1) %}{{ lipsum.__globals__ }}",
        "{{ nothing_of_that_name }}",
    ],
)
def test_a_jinja_template_is_kept_in_its_sandbox(attack: str) -> None:
    mode = get_response_synthesizer(ScriptedLLM(), text_qa_template=RichPromptTemplate(attack))
    with pytest.raises(TemplateError):
        mode.synthesize(QUESTION, passages("a"))


def test_text_of_documents_and_questions_is_never_a_template() -> None:
    attacks = "{{ 7 * 7 }} {query_str} {tone} {% for x in y %} {context_str}"
    for template in (
        None,
        PromptTemplate("{context_str} {query_str} {tone}"),
        RichPromptTemplate("{{ context_str }} {{ query_str }} {{ tone }}"),
    ):
        llm = ScriptedLLM("Yes.")
        mode = CompactAndRefine(llm, text_qa_template=template)
        synthesized(mode, f"Who? {attacks}", passages(attacks), tone=attacks)
        shown = "".join(message.content for message in llm.prompts[0])
        assert shown.count(attacks) >= 2
        assert "49" not in shown


def test_history_is_shown_by_every_mode_that_asks_and_gives_way_before_the_passages() -> None:
    history = [ChatMessage("user", "word " * 200), ChatMessage("assistant", "word " * 200)] * 8
    from responsa.programs import run

    for mode in ("compact", "refine", "tree_summarize", "simple_summarize", "accumulate", "generation"):
        llm = ScriptedLLM("Yes.", context_window=1500, num_output=100)
        synthesizer = get_response_synthesizer(llm, response_mode=mode, use_async=False)
        run(
            synthesizer.respond(QUESTION, passages("One owner."), history=[*history, ChatMessage("user", "And me?")]),
            llm,
        )
        for prompt, sampling in zip(llm.prompts, llm.samplings, strict=True):
            assert llm.count_prompts([prompt])[0] + (sampling.max_tokens or 0) <= 1500
        assert any(message.content == "And me?" for message in llm.prompts[0]), mode
