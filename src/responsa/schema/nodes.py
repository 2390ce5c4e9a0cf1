"""Documents, the passages cut from them, and what a retriever hands on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .substitution import substitute


class MetadataMode(StrEnum):
    """Which metadata `TextNode.get_content` puts before the text."""

    ALL = "all"
    EMBED = "embed"
    LLM = "llm"
    NONE = "none"


def _new_id() -> str:
    import uuid

    return str(uuid.uuid4())


@dataclass(slots=True)
class TextNode:
    """A passage of text with its metadata and its place in the document it was cut from.

    Args:
        text: The passage itself, an unchanged piece of the document's text.
        id_: The passage's identity; a random UUID when left out.
        metadata: What is known of the passage. Readers and splitters use the keys `file_path`, `file_name`,
            `title`, `title_path` (headings from the outermost in, joined by " › "), `page` (from 1), `url`,
            `category`, and for knowledge entries `question`, `answer`, `full_answer`, `summary`, `extra`.
        excluded_llm_metadata_keys: Keys the model is not shown.
        excluded_embed_metadata_keys: Keys left out of the text that is embedded.
        start_char_idx: Where the text starts in the document's text, in characters.
        end_char_idx: Where it ends, exclusive: `document.text[start:end] == node.text`.
        ref_doc_id: The identity of the document.
    """

    text: str = ""
    id_: str = field(default_factory=_new_id)
    metadata: dict[str, Any] = field(default_factory=dict)
    excluded_llm_metadata_keys: list[str] = field(default_factory=list)
    excluded_embed_metadata_keys: list[str] = field(default_factory=list)
    start_char_idx: int | None = None
    end_char_idx: int | None = None
    ref_doc_id: str | None = None
    embedding: list[float] | None = None
    metadata_template: str = "{key}: {value}"
    metadata_separator: str = "\n"
    text_template: str = "{metadata_str}\n\n{content}"

    @property
    def node_id(self) -> str:
        """The passage's identity."""
        return self.id_

    @property
    def hash(self) -> str:
        """SHA-256 of the text and metadata, in hexadecimal: equal for equal content."""
        import hashlib
        import json

        content = json.dumps([self.text, self.metadata], ensure_ascii=False, sort_keys=True, default=str)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()

    def get_text(self) -> str:
        """Return the text alone."""
        return self.text

    def get_metadata_str(self, mode: MetadataMode = MetadataMode.ALL) -> str:
        """Return the metadata that `mode` shows, a line each."""
        if mode == MetadataMode.NONE or not self.metadata:
            return ""
        hidden: list[str] = []
        if mode == MetadataMode.LLM:
            hidden = self.excluded_llm_metadata_keys
        elif mode == MetadataMode.EMBED:
            hidden = self.excluded_embed_metadata_keys
        lines = (
            substitute(self.metadata_template, {"key": key, "value": value})
            for key, value in self.metadata.items()
            if key not in hidden
        )
        return self.metadata_separator.join(lines)

    def get_content(self, metadata_mode: MetadataMode = MetadataMode.NONE) -> str:
        """Return the text with the metadata that `metadata_mode` shows before it."""
        before, after = self.get_surroundings(metadata_mode)
        return before + self.text + after

    def get_surroundings(self, metadata_mode: MetadataMode) -> tuple[str, str]:
        """Return what `get_content` puts before the text and after it."""
        shown = self.get_metadata_str(metadata_mode)
        if not shown:
            return "", ""
        before, _, after = self.text_template.partition("{content}")
        return substitute(before, {"metadata_str": shown}), substitute(after, {"metadata_str": shown})


@dataclass(slots=True)
class Document(TextNode):
    """A whole document as a reader gives it, before it is split."""

    @property
    def doc_id(self) -> str:
        """The document's identity."""
        return self.id_


@dataclass(slots=True)
class NodeWithScore:
    """A passage and how well it matched; `score` is None where nothing was measured."""

    node: TextNode
    score: float | None = None

    @property
    def node_id(self) -> str:
        """The passage's identity."""
        return self.node.id_

    @property
    def id_(self) -> str:
        """The passage's identity."""
        return self.node.id_

    @property
    def text(self) -> str:
        """The passage's text alone."""
        return self.node.text

    @property
    def metadata(self) -> dict[str, Any]:
        """The passage's metadata."""
        return self.node.metadata

    def get_score(self, raise_error: bool = False) -> float:
        """Return the score, 0.0 where there is none (or ValueError if `raise_error`)."""
        if self.score is None:
            if raise_error:
                raise ValueError(f"Passage {self.node_id} has no score.")
            return 0.0
        return self.score

    def get_text(self) -> str:
        """Return the passage's text alone."""
        return self.node.text

    def get_content(self, metadata_mode: MetadataMode = MetadataMode.NONE) -> str:
        """Return the passage's text with the metadata that `metadata_mode` shows."""
        return self.node.get_content(metadata_mode)


@dataclass(frozen=True, slots=True)
class QueryBundle:
    """A question, and optionally what to search with instead of it.

    Args:
        query_str: The question as the person asked it.
        custom_embedding_strs: Texts to embed in place of the question.
        embedding: A ready vector for it.
    """

    query_str: str
    custom_embedding_strs: tuple[str, ...] = ()
    embedding: tuple[float, ...] | None = None

    def __str__(self) -> str:
        return self.query_str


def as_sources(nodes: Iterable[NodeWithScore | TextNode] | None) -> list[NodeWithScore]:
    """Return passages with their scores; a bare passage has none."""
    return [node if isinstance(node, NodeWithScore) else NodeWithScore(node) for node in nodes or ()]


def as_query(query: str | QueryBundle) -> QueryBundle:
    """Return `query` as a bundle."""
    return query if isinstance(query, QueryBundle) else QueryBundle(query)
