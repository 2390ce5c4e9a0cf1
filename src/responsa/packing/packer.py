"""Packing passages into as few calls as they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from responsa.programs.effects import Program, count

from .cutting import cut
from .passages import FENCE, SEPARATOR, Pack, Passage, Piece

# What stands around a passage in a prompt, without and with a fence of its own; four digits, so that it is never less.
_AROUND: Final = f"8888: x{SEPARATOR}"
_AROUND_FENCED: Final = f"8888:\n{FENCE}88\nx\n{FENCE}88{SEPARATOR}"


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around a passage takes up, in tokens.

    Args:
        plain: Around one without a fence of its own.
        fenced: Around one that has one.
    """

    plain: int
    fenced: int

    def of(self, passage: Passage) -> int:
        """Return what stands around a passage."""
        return self.fenced if passage.is_fenced else self.plain


@dataclass(frozen=True, slots=True)
class Counted:
    """Passages with their lengths in tokens.

    Args:
        passages: The passages.
        tokens: The length of each.
        around: What stands around each.
        image_tokens: What a picture counts.
        overlap_ratio: How much of a piece of a passage that must be cut the next piece may repeat.
    """

    passages: tuple[Passage, ...]
    tokens: tuple[int, ...]
    around: Around
    image_tokens: int = 0
    overlap_ratio: float = 0.0

    def __len__(self) -> int:
        return len(self.passages)


def count_passages(passages: Sequence[Passage], image_tokens: int = 0) -> Program[Counted]:
    """Count the tokens of each passage, once; each of its pictures counts `image_tokens`."""
    plain, fenced, *tokens = yield from count([_AROUND, _AROUND_FENCED, *(passage.body for passage in passages)])
    total = (text + image_tokens * len(passage.media) for text, passage in zip(tokens, passages, strict=True))
    return Counted(tuple(passages), tuple(total), Around(plain, fenced), image_tokens)


def pack(counted: Counted, room: int) -> Program[list[Pack]]:
    """Put whole passages, in their order, into packs of at most `room` tokens.

    Only a passage that is larger than a whole pack is cut. Nothing is lost and nothing repeated, but for the metadata
    of a cut passage, which stands before each of its parts as long as it takes up less than half of the room.
    """
    packs: list[Pack] = []
    current: list[Piece] = []
    used = 0
    for piece in (yield from _pieces(counted, room)):
        if current and used + piece.tokens > room:
            packs.append(Pack(tuple(current)))
            current, used = [], 0
        current.append(piece)
        used += piece.tokens
    if current:
        packs.append(Pack(tuple(current)))
    return packs


def pack_each(counted: Counted, room: int) -> Program[list[Pack]]:
    """Put every passage into a pack of its own, several if it is larger than `room` tokens."""
    pieces = yield from _pieces(counted, room)
    return [Pack((piece,)) for piece in pieces]


def pack_first(counted: Counted, room: int) -> Program[list[Pack]]:
    """Put as many passages as fit into one pack of at most `room` tokens.

    The first that does not fit is cut at a sentence's end; what comes after it is left out.
    """
    pieces: list[Piece] = []
    used = 0
    for passage, tokens in zip(counted.passages, counted.tokens, strict=True):
        around = counted.around.of(passage)
        left = room - used
        if tokens + around > left:
            if left - around > 0:
                pieces += (yield from _cut_passage(passage, left - around, counted))[:1]
            break
        pieces.append(Piece(passage, 0, len(passage.text), tokens + around))
        used += tokens + around
    return [Pack(tuple(piece for piece in pieces if piece.tokens <= room))]


def _pieces(counted: Counted, room: int) -> Program[list[Piece]]:
    pieces: list[Piece] = []
    for passage, tokens in zip(counted.passages, counted.tokens, strict=True):
        around = counted.around.of(passage)
        if tokens + around <= room:
            pieces.append(Piece(passage, 0, len(passage.text), tokens + around))
        else:
            pieces += yield from _cut_passage(passage, room - around, counted)
    return pieces


def _cut_passage(passage: Passage, room: int, counted: Counted) -> Program[list[Piece]]:
    """Cut a passage to pieces of `room` tokens; its pictures, which cannot be cut, are a piece of their own."""
    around = counted.around.of(passage)
    pieces: list[Piece] = []
    if passage.media:
        pictures = replace(passage, head="", tail="")
        pieces.append(Piece(pictures, 0, 0, counted.image_tokens * len(passage.media) + around))
        passage = replace(passage, media=())
    head, tail = yield from count([passage.head, passage.tail])
    if head + tail > room // 2:
        passage, head, tail = replace(passage, head="", tail=""), 0, 0
    text_room = max(room - head - tail, 1)
    parts = yield from cut(passage.text, text_room, int(text_room * counted.overlap_ratio))
    pieces += [Piece(passage, start, end, tokens + head + tail + around) for (start, end), tokens in parts]
    return pieces
