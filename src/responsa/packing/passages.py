"""Passages as a prompt shows them: numbered, inside one fence, and every piece with its place in its node.

The prompt puts the fence around all of them, and a number begins each. Only a passage that could be taken for more than
one has a fence of its own besides, which costs five tokens a passage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from responsa.schema.messages import ChatMessage, ImageBlock
from responsa.schema.nodes import MetadataMode, NodeWithScore, TextNode
from responsa.schema.spans import Span

FENCE = '"""'
_ENTRY_TAIL: Final = '"}'
# What of a knowledge entry a model is shown before the answer, with whatever else its metadata shows.
_ENTRY_FIELDS: Final = ("title", "category", "product", "date")
_NEVER_IN_HEAD: Final = frozenset(["question", "answer", "full_answer", "summary", "extra"])
SEPARATOR = "\n\n"
# What could be taken for the beginning of a passage (anywhere, since a part of it may begin there), or for the end of
# them all; no times of day.
_MARK: Final = re.compile(rf"\d ?[:：](?!\d)|{FENCE}")
_NUMBER_OF_FENCE: Final = re.compile(rf"(?<={FENCE})[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class Passage:
    """A source as the model may be shown it.

    Args:
        number: Its number in this answer, from 1; 0 for a text that is no source, such as a summary.
        node_id: The identity of its node; empty for a bare text.
        text: The node's text.
        head: What stands before the text: the metadata the model sees.
        tail: What stands after it.
        media: Pictures that belong to it.
        is_entry: Whether it is a knowledge entry, shown as a JSON object that `head` begins and `tail` ends.
        skip: Characters at the text's beginning that `head` shows already: an entry's question.

    Attributes:
        fence: Its own fence, that the passage does not hold nor stands around all, so that its end cannot be forged;
            empty where it needs none.
    """

    number: int
    node_id: str
    text: str
    head: str = ""
    tail: str = ""
    media: tuple[ImageBlock, ...] = ()
    is_entry: bool = False
    skip: int = 0
    fence: str = field(init=False, repr=False, compare=False)

    @property
    def body(self) -> str:
        """All that stands inside the fence when the passage is shown whole."""
        return self.shown(0, len(self.text))

    def shown(self, start: int, end: int) -> str:
        """Return what stands inside the fence when these characters of the text are shown."""
        if self.is_entry and self.head:
            text = json.dumps(self.text[max(start, self.skip) : end].strip(), ensure_ascii=False)
            return self.head + text[1:-1] + self.tail
        return self.head + self.text[start:end] + self.tail

    def __post_init__(self) -> None:
        # Once for all pieces of it: each of them asks for it, and a passage may have a thousand.
        object.__setattr__(self, "fence", self._fence())

    @property
    def is_fenced(self) -> bool:
        """Whether it needs a fence of its own: it is an entry, or could be taken for more than one passage."""
        return bool(self.fence)

    def _fence(self) -> str:
        body = self.body
        if not self.is_entry and not (_MARK.search(body) if self.number else FENCE in body):
            return ""
        # No number needs more digits than the body's length has.
        most = len(str(len(body)))
        held = {
            digits[:end]
            for digits in set(_NUMBER_OF_FENCE.findall(body))
            for end in range(1, min(len(digits), most) + 1)
        }
        return next(f"{FENCE}{number}" for number in count(1) if str(number) not in held)

    @classmethod
    def of_node(cls, number: int, source: NodeWithScore) -> Passage:
        """Return the passage of a node: its text, and the metadata it shows to a model; an entry's as JSON."""
        question = source.metadata.get("question")
        if isinstance(question, str) and question:
            head, skip = _entry_head(source.node, question)
            return cls(number, source.node_id, source.text, head, _ENTRY_TAIL, is_entry=True, skip=skip)
        head, tail = source.node.get_surroundings(MetadataMode.LLM)
        return cls(number, source.node_id, source.text, head, tail)


def _entry_head(node: TextNode, question: str) -> tuple[str, int]:
    """Return how a knowledge entry's JSON begins, up to its text, and how much of the text that holds already."""
    metadata = node.metadata
    shown = (name for name in metadata if name not in node.excluded_llm_metadata_keys and name != "title_path")
    fields = {
        name: metadata[name]
        for name in dict.fromkeys([*_ENTRY_FIELDS, *shown])
        if name not in _NEVER_IN_HEAD and metadata.get(name) is not None
    }
    entry = {**fields, "question": question, "answer": ""}
    head = json.dumps(entry, ensure_ascii=False, default=str).removesuffix(_ENTRY_TAIL)
    return head, len(question) if node.text.startswith(question) else 0


def passages_of(sources: Sequence[NodeWithScore]) -> list[Passage]:
    """Return the passages of `sources`, numbered from 1 in their order, those without text left out."""
    return [Passage.of_node(number, source) for number, source in enumerate(sources, 1) if source.text.strip()]


def passages_of_messages(messages: Sequence[ChatMessage]) -> list[Passage]:
    """Return the passages of messages: their texts, with their pictures."""
    passages = (
        Passage(number, "", message.content, media=tuple(b for b in message.blocks if isinstance(b, ImageBlock)))
        for number, message in enumerate(messages, 1)
    )
    return [passage for passage in passages if passage.media or passage.text.strip()]


def passages_of_texts(texts: Sequence[str]) -> list[Passage]:
    """Return the passages of bare texts, numbered from 1 in their order, empty ones left out."""
    return [Passage(number, "", text) for number, text in enumerate(texts, 1) if text.strip()]


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage, or a part of one, in a pack.

    Args:
        passage: The passage.
        start: Where the piece starts in the passage's text, in characters.
        end: Where it ends, exclusive.
        tokens: What it takes up in a prompt, its fence included; 0 where it was only counted with the whole prompt.
    """

    passage: Passage
    start: int
    end: int
    tokens: int

    @property
    def span(self) -> Span:
        """The piece's place in its node."""
        whole = self.start == 0 and self.end == len(self.passage.text)
        return Span(self.passage.number, self.passage.node_id, self.start, self.end, whole)

    @property
    def plain(self) -> str:
        """The piece without its fence."""
        return self.passage.shown(self.start, self.end)

    def render(self) -> str:
        """Return the piece as the prompt shows it."""
        passage = self.passage
        if not passage.is_fenced:
            return f"{passage.number}: {self.plain}" if passage.number else self.plain
        label = f"{passage.number}:\n" if passage.number else ""
        return f"{label}{passage.fence}\n{self.plain}\n{passage.fence}"


@dataclass(frozen=True, slots=True)
class Pack:
    """What one call is shown: whole passages in their order, or a part of one that is larger than a pack."""

    pieces: tuple[Piece, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        """Which characters of which sources the pack shows."""
        return tuple(piece.span for piece in self.pieces if piece.passage.number)

    @property
    def tokens(self) -> int:
        """What the pack takes up in a prompt."""
        return sum(piece.tokens for piece in self.pieces)

    @property
    def media(self) -> tuple[ImageBlock, ...]:
        """The pictures of the pack's passages, each passage's with its first piece."""
        return tuple(block for piece in self.pieces if piece.start == 0 for block in piece.passage.media)

    def render(self) -> str:
        """Return the pack as the prompt shows it."""
        return SEPARATOR.join(piece.render() for piece in self.pieces)

    def plain(self) -> str:
        """Return the pieces' texts alone, joined by a blank line."""
        return SEPARATOR.join(piece.plain for piece in self.pieces)


EMPTY = Pack(())


def whole_pack(passages: Sequence[Passage]) -> Pack:
    """Return the pack that shows all of `passages`, whole and not counted."""
    return Pack(tuple(Piece(passage, 0, len(passage.text), 0) for passage in passages))
