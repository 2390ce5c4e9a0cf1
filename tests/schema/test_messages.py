"""Chat messages: content or blocks, roles by name, pictures by address."""

from __future__ import annotations

import base64

import pytest

from responsa.schema.messages import ChatMessage, ImageBlock, MessageRole, TextBlock


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_a_role_may_be_given_by_its_name(role: str) -> None:
    assert ChatMessage(role, "hi").role is MessageRole(role)
    assert str(ChatMessage.from_str("hi", role)) == f"{role}: hi"


def test_the_content_is_the_text_of_the_text_blocks() -> None:
    message = ChatMessage(blocks=[TextBlock("a"), ImageBlock(url="http://x/y.png"), TextBlock("b")])
    assert message.content == "a\nb"
    assert ChatMessage(content="a").blocks == (TextBlock("a"),)


def test_content_and_blocks_together_are_refused() -> None:
    with pytest.raises(ValueError, match="not both"):
        ChatMessage(content="a", blocks=[TextBlock("b")])


def test_a_picture_has_an_address_or_carries_its_bytes() -> None:
    assert ImageBlock(url="http://x/y.png", image=b"1").address == "http://x/y.png"
    encoded = base64.b64encode(b"\x89PNG").decode()
    assert ImageBlock(image=b"\x89PNG", image_mimetype="image/webp").address == f"data:image/webp;base64,{encoded}"


def test_messages_are_equal_by_content_and_can_be_keys() -> None:
    assert ChatMessage("user", "a") == ChatMessage(MessageRole.USER, blocks=[TextBlock("a")])
    assert len({ChatMessage("user", "a"), ChatMessage("user", "a", additional_kwargs={})}) == 1


def test_the_callers_mapping_is_copied() -> None:
    given = {"name": "a"}
    message = ChatMessage("user", "x", additional_kwargs=given)
    given["name"] = "b"
    assert message.additional_kwargs == {"name": "a"}
