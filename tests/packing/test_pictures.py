"""Pictures in packs: counted, never cut, and shown beside their text."""

from __future__ import annotations

from tests.packing.texts import ENGLISH

from responsa.packing.packer import count_passages, pack
from responsa.packing.passages import Pack, passages_of_messages
from responsa.programs import run
from responsa.schema.messages import ChatMessage, ImageBlock, TextBlock
from responsa.testing import ScriptedLLM

FIRST, SECOND = ImageBlock(url="http://x/1.png"), ImageBlock(url="http://x/2.png")


def packed(text: str, room: int, image_tokens: int = 100) -> list[Pack]:
    message = ChatMessage("user", blocks=[TextBlock(text), FIRST, SECOND])
    counted = run(count_passages(passages_of_messages([message]), image_tokens), ScriptedLLM())
    packs: list[Pack] = run(pack(counted, room), ScriptedLLM())
    return packs


def test_pictures_count_and_stay_with_a_passage_that_fits() -> None:
    (one,) = packed("Two pictures.", 240)
    assert one.media == (FIRST, SECOND)
    assert "Two pictures." in one.render()
    assert one.tokens > 200


def test_pictures_of_a_passage_that_must_be_cut_come_once_and_before_its_text() -> None:
    packs = packed(ENGLISH * 10, 220)
    assert [one.media for one in packs] == [(FIRST, SECOND), *[()] * (len(packs) - 1)]
    assert "".join(piece.plain for one in packs for piece in one.pieces) == ENGLISH * 10
    assert all(one.tokens <= 220 for one in packs)


def test_messages_without_text_or_picture_are_left_out_and_the_others_keep_their_numbers() -> None:
    messages = [ChatMessage("user", " "), ChatMessage("user", blocks=[FIRST]), ChatMessage("user", "a")]
    passages = passages_of_messages(messages)
    assert [(one.number, one.text, one.media) for one in passages] == [(2, "", (FIRST,)), (3, "a", ())]
