"""Templates: one pass, mappings, functions, partial filling, choice by the LLM."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.prompts import BasePromptTemplate, ChatPromptTemplate, PromptTemplate, SelectorPromptTemplate
from responsa.schema.errors import TemplateError
from responsa.schema.messages import ChatMessage, ImageBlock, MessageRole, TextBlock
from responsa.schema.nodes import QueryBundle
from responsa.schema.protocols import LLM
from responsa.testing import ScriptedLLM

VALUES = st.text(alphabet=st.sampled_from("{}ab%\\1$"), max_size=12)


@given(VALUES, VALUES)
def test_a_value_is_put_in_as_it_is_and_never_scanned_again(a: str, b: str) -> None:
    assert PromptTemplate("<{a}|{b}|{a}>").format(a=a, b=b) == f"<{a}|{b}|{a}>"
    messages = ChatPromptTemplate.from_messages([("system", "{b}"), ("user", "{a}{b}")]).format_messages(a=a, b=b)
    assert [message.content for message in messages] == [b, a + b]


@pytest.mark.parametrize(
    "text",
    ["{", "}", "{}", "{ a }", "{1}", "{a.b}", "{a!r}", "{a:>3}", "{{", '{"key": [1, 2]}', "{other}", "{a-b}", "{名}"],
)
def test_braces_that_hold_no_known_variable_stay(text: str) -> None:
    assert PromptTemplate(text).format(a="x") == text


@pytest.mark.parametrize(("text", "filled"), [("{{a}}", "{x}"), ("{a}{a}", "xx"), ("{b{a}}", "{bx}")])
def test_braces_around_a_known_variable_stay_around_its_value(text: str, filled: str) -> None:
    assert PromptTemplate(text).format(a="x") == filled


def test_the_variables_are_named_in_order_each_once() -> None:
    assert PromptTemplate("{b} {a} {b} {1} { c }").template_vars == ["b", "a"]
    chat = ChatPromptTemplate.from_messages([("system", "{b}"), ("user", "{a} {b}")])
    assert chat.template_vars == ["b", "a"]
    assert SelectorPromptTemplate(chat).template_vars == ["b", "a"]


@pytest.mark.parametrize("value", [3, 2.5, None, ["a"], QueryBundle("q")])
def test_a_value_of_any_type_is_written_as_text(value: object) -> None:
    assert PromptTemplate("{a}").format(a=value) == str(value)


def test_a_template_may_use_its_own_names() -> None:
    template = PromptTemplate("{my_context}/{question}", template_var_mappings={"context_str": "my_context"})
    assert template.format(context_str="c", question="q") == "c/q"


def test_functions_make_variables_from_all_the_given_ones() -> None:
    def loud(**values: Any) -> str:
        return f"{values['query_str']}! {sorted(values)}"

    template = PromptTemplate("{query_str}", function_mappings={"query_str": loud}, tone="dry")
    assert template.format(query_str="why", context_str="c") == "why! ['context_str', 'query_str', 'tone']"


def test_functions_come_before_the_templates_own_names() -> None:
    template = PromptTemplate(
        "{mine}", function_mappings={"context_str": lambda **_: "made"}, template_var_mappings={"context_str": "mine"}
    )
    assert template.format(context_str="given") == "made"


@pytest.mark.parametrize(
    "template",
    [
        PromptTemplate("{a}-{b}", template_var_mappings={"x": "a"}, metadata={"k": 1}),
        ChatPromptTemplate.from_messages([("user", "{a}-{b}")], template_var_mappings={"x": "a"}, metadata={"k": 1}),
        SelectorPromptTemplate(PromptTemplate("{a}-{b}", template_var_mappings={"x": "a"})),
    ],
    ids=["text", "chat", "selector"],
)
def test_partial_filling_leaves_the_original_as_it_is(template: BasePromptTemplate) -> None:
    half = template.partial_format(b="B")
    assert half.format(x="A") == "A-B"
    assert half.format(x="A", b="later") == "A-later"
    assert half.partial_format(x="A").format() == "A-B"
    assert template.format(x="A") == "A-{b}"
    assert type(half) is type(template)


def test_a_text_template_becomes_one_user_message() -> None:
    assert PromptTemplate("Hi {a}").format_messages(a="you") == [ChatMessage(MessageRole.USER, "Hi you")]


def test_a_chat_template_as_one_text_names_its_roles() -> None:
    template = ChatPromptTemplate.from_messages([("system", "Be {how}."), ("user", "{q}")])
    assert template.format(how="brief", q="Why?") == "system: Be brief.\nuser: Why?\nassistant: "
    assert template.get_template() == "system: Be {how}.\nuser: {q}\nassistant: "


def test_chat_templates_keep_pictures_and_further_fields() -> None:
    picture = ImageBlock(url="http://x/{a}.png")
    given = ChatMessage("user", blocks=[TextBlock("see {a}"), picture], additional_kwargs={"name": "n"})
    (message,) = ChatPromptTemplate.from_messages([given]).format_messages(a="it")
    assert message == ChatMessage("user", blocks=[TextBlock("see it"), picture], additional_kwargs={"name": "n"})
    assert given.blocks[0] == TextBlock("see {a}")


def test_a_chat_template_without_messages_is_refused() -> None:
    with pytest.raises(TemplateError, match="at least one message"):
        ChatPromptTemplate([])


def test_a_selector_takes_the_first_template_whose_condition_holds() -> None:
    def is_large(llm: LLM) -> bool:
        return llm.metadata.context_window > 4096

    template = SelectorPromptTemplate(
        PromptTemplate("default {a}"),
        [(is_large, PromptTemplate("large {a}")), (lambda _: True, PromptTemplate("any {a}"))],
    )
    assert template.format(a=1) == "default 1"
    assert template.format(ScriptedLLM(context_window=8192), a=1) == "large 1"
    assert template.format(ScriptedLLM(context_window=4096), a=1) == "any 1"
    assert template.partial_format(a=2).format(ScriptedLLM(context_window=8192)) == "large 2"
