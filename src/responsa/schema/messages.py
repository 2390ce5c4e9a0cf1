"""Chat messages and the blocks they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias


class MessageRole(StrEnum):
    """Who speaks in a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A piece of text."""

    block_type: ClassVar[str] = "text"

    text: str


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """A picture, by address or as bytes.

    Args:
        url: Where it is; a `data:` address is allowed.
        image: Its bytes, used when `url` is empty.
        image_mimetype: The type of the bytes.
        detail: The detail an OpenAI server is asked for.
    """

    block_type: ClassVar[str] = "image"

    url: str = ""
    image: bytes = b""
    image_mimetype: str = "image/png"
    detail: str | None = None

    @property
    def address(self) -> str:
        """The address a server is given: `url`, or the bytes as a `data:` address."""
        if self.url:
            return self.url
        import base64

        return f"data:{self.image_mimetype};base64,{base64.b64encode(self.image).decode('ascii')}"

    def inline_url(self) -> str:
        """Return `address`, as templates written for LlamaIndex ask for it."""
        return self.address


ContentBlock: TypeAlias = TextBlock | ImageBlock


@dataclass(frozen=True, slots=True, init=False)
class ChatMessage:
    """One message of a conversation: a role and its content blocks.

    Args:
        role: Who speaks; a role's name is accepted too.
        content: The text, the usual case; or
        blocks: the blocks, when there is more than text.
        additional_kwargs: Further fields for the server, such as a name.
    """

    role: MessageRole
    blocks: tuple[ContentBlock, ...]
    additional_kwargs: dict[str, Any] = field(hash=False)

    def __init__(
        self,
        role: MessageRole | str = MessageRole.USER,
        content: str | None = None,
        *,
        blocks: Sequence[ContentBlock] = (),
        additional_kwargs: dict[str, Any] | None = None,
    ) -> None:
        if content is not None and blocks:
            raise ValueError("A message takes content or blocks, not both.")
        object.__setattr__(self, "role", role if isinstance(role, MessageRole) else MessageRole(role))
        object.__setattr__(self, "blocks", tuple(blocks) if content is None else (TextBlock(content),))
        object.__setattr__(self, "additional_kwargs", dict(additional_kwargs or {}))

    @property
    def content(self) -> str:
        """The text of all text blocks, joined by newlines."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, TextBlock))

    @classmethod
    def from_str(cls, content: str, role: MessageRole | str = MessageRole.USER) -> ChatMessage:
        """Make a message of text."""
        return cls(role, content)

    def __str__(self) -> str:
        return f"{self.role.value}: {self.content}"
