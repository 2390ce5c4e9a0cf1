"""Jinja templates: their variables, their messages, their pictures; what cannot be used is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from responsa.prompts import RichPromptTemplate
from responsa.schema.errors import TemplateError
from responsa.schema.messages import ImageBlock, MessageRole, TextBlock


def test_a_template_without_chat_blocks_is_one_user_message() -> None:
    template = RichPromptTemplate("Hi {{ name }}{% if loud %}!{% endif %}")
    assert template.format(name="Ann", loud=True) == "Hi Ann!"
    (message,) = template.format_messages(name="Ann", loud=False)
    assert (message.role, message.content) == (MessageRole.USER, "Hi Ann")
    assert template.template_vars == ["loud", "name"]
    assert template.get_template() == "Hi {{ name }}{% if loud %}!{% endif %}"


def test_chat_blocks_are_messages_in_their_roles() -> None:
    template = RichPromptTemplate(
        """{% chat role="system" %} Be brief. {% endchat %}
        {%- chat role='assistant' -%} Ask. {%- endchat -%}
        {% chat role="user" %}{{ query_str }}{% endchat %}"""
    )
    shown = [(message.role.value, message.content) for message in template.format_messages(query_str="Who?")]
    assert shown == [("system", "Be brief."), ("assistant", "Ask."), ("user", "Who?")]
    assert template.template_vars == ["query_str"]


def test_a_value_is_never_read_as_a_template_nor_escaped() -> None:
    value = "{{ 7 * 7 }} {% endchat %} <b> & \x020:0\x03"
    template = RichPromptTemplate('{% chat role="user" %}{{ text }}{% endchat %}')
    (message,) = template.format_messages(text=value)
    assert message.content == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{% if %}", "Expected an expression"),
        ('{% chat role="pirate" %}Ahoy{% endchat %}', "pirate"),
        ("{{ open", "unexpected"),
    ],
)
def test_a_template_that_cannot_be_read_is_refused_when_it_is_made(text: str, told: str) -> None:
    with pytest.raises(TemplateError, match=told):
        RichPromptTemplate(text)


@pytest.mark.parametrize(
    "text", ["{{ missing }}", "{{ name | nosuchfilter }}", "{{ name.nothing.more }}", "{{ 1 / 0 }}"]
)
def test_a_template_that_cannot_be_filled_is_told(text: str) -> None:
    with pytest.raises(TemplateError):
        RichPromptTemplate(text).format(name="Ann")


def test_partial_filling_keeps_names_and_functions_and_the_original() -> None:
    template = RichPromptTemplate(
        "{{ mine }} {{ loud }} {{ tone }}",
        template_var_mappings={"context_str": "mine"},
        function_mappings={"loud": lambda **given: given["context_str"].upper()},
    )
    dry = template.partial_format(tone="dry")
    assert dry.format(context_str="so") == "so SO dry"
    with pytest.raises(TemplateError, match="tone"):
        template.format(context_str="so")


def test_pictures_are_addresses_or_files(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"png")
    (tmp_path / "b.jpeg").write_bytes(b"jpeg")
    template = RichPromptTemplate(
        "Before {{ one | image }} between {% for p in more %}{{ p | image }}{% endfor %} after"
    )
    more = [str(tmp_path / "b.jpeg"), "data:image/gif;base64,AAAA"]
    (message,) = template.format_messages(one=tmp_path / "a.png", more=more)
    assert message.blocks == (
        TextBlock("Before "),
        ImageBlock(image=b"png", image_mimetype="image/png"),
        TextBlock(" between "),
        ImageBlock(image=b"jpeg", image_mimetype="image/jpeg"),
        ImageBlock(url="data:image/gif;base64,AAAA"),
        TextBlock(" after"),
    )


@pytest.mark.parametrize("source", ["/etc/passwd", "missing.png", "notes.txt", ""])
def test_what_is_no_picture_is_not_read(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("secret")
    with pytest.raises(TemplateError, match=r"picture"):
        RichPromptTemplate("{{ source | image }}").format_messages(source=source)
