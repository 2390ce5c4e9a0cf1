"""What the model is sent of a conversation: within the limit, whatever the messages are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from responsa.programs.effects import Program, as_step_error, count, describe, emit
from responsa.prompts.language import Language, detect_language
from responsa.schema.errors import MissingPart
from responsa.schema.events import WarningRaised
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.notices import Notice
from responsa.schema.protocols import ChatStore
from responsa.schema.stored import StoredMessage

from .fitting import cut_to_fit
from .handing_over import HandingOver
from .insertion import InsertMethod, insert, render, section
from .memory_blocks.base import BaseMemoryBlock, Recollection
from .window import Window, pinned, turns_of_talk, weigh

# What blocks take in may make their content longer, so that more falls out: this often at most in one recall.
_ROUNDS: Final = 4
_JOIN: Final = 2  # tokens that joining two counted parts may add


@dataclass(frozen=True, slots=True)
class Policy:
    """How a memory recalls.

    Args:
        limit: The most tokens of all that is recalled.
        blocks: The memory blocks, by their rank.
        insert_method: Where their content goes.
        blocks_share: The share of the limit they may fill.
        ahead_tokens: How many tokens that have not fallen out yet blocks that ask a model take in ahead of time.
        send_reasoning: Whether the reasoning of earlier answers is recalled.
        language: "en", "zh", or "auto" for the conversation's own.
    """

    limit: int
    blocks: tuple[BaseMemoryBlock, ...] = ()
    insert_method: InsertMethod = InsertMethod.SYSTEM
    blocks_share: float = 0.3
    ahead_tokens: int = 0
    send_reasoning: bool = False
    language: str = "auto"


def recall(
    messages: Sequence[StoredMessage],
    policy: Policy,
    store: ChatStore,
    session_id: str,
    question: str,
    before: str | None = None,
) -> Program[list[ChatMessage]]:
    """Return what the model is sent of a session, and hand what falls out to the memory blocks.

    System messages stay. Whole turns are left out from the oldest on, no more than needed; where the newest turn alone
    is too long, it is cut. Turns that are being written, or came to nothing, are left out.

    Args:
        messages: All messages of the session.
        policy: How it is recalled.
        store: Where the blocks' states are.
        session_id: The session.
        question: What the user says now; empty where it is not known.
        before: The identity of a message: only what came before it is recalled.
    """
    ends = (position for position, message in enumerate(messages) if message.id == before)
    ids = {message.id for message in messages} if policy.blocks else frozenset()
    handing = HandingOver(store, session_id, ids, policy.blocks, policy.limit, policy.ahead_tokens)
    recalled = messages[: next(ends, len(messages))]
    return (yield from _Recall(recalled, policy, handing, session_id, question).program())


class _Recall:
    """One recall, step by step."""

    def __init__(
        self, messages: Sequence[StoredMessage], policy: Policy, handing: HandingOver, session_id: str, question: str
    ) -> None:
        self._policy = policy
        self._all_turns = turns_of_talk(messages)
        self._turns = [turn for turn in self._all_turns if turn.told]
        self._sent = [[_as_sent(one, policy.send_reasoning) for one in turn.messages] for turn in self._turns]
        self._pinned = [message.message for message in pinned(messages)]
        self._window = Window(self._sent)
        recent = tuple(message for turn in self._turns for message in turn.messages)
        self._asked = Recollection(session_id, question, recent, _language(policy.language, question, recent))
        self._notices: list[Notice] = []  # of the blocks' content, which may be made several times
        self._handing = handing

    def program(self) -> Program[list[ChatMessage]]:
        limit = self._policy.limit
        newest = self._sent[-1] if self._sent else []
        fixed = sum((yield from weigh([*self._pinned, *newest])))
        if self._policy.blocks:
            yield from self._handing.load()
        if fixed > limit:
            yield from self._handing.hand_over(self._all_turns, self._fallen(len(self._turns) - 1))
            return (yield from self._cut(newest))
        newest_tokens = sum((yield from weigh(newest)))
        pinned_tokens = fixed - newest_tokens
        for _ in range(_ROUNDS):
            text, tokens = yield from self._blocks_text(limit - fixed)
            start = yield from self._window.start(limit - pinned_tokens - tokens)
            if not (yield from self._handing.hand_over(self._all_turns, self._fallen(start))):
                break
        for notice in self._notices:
            yield from emit(WarningRaised(notice))
        return self._put_together(start, text)

    def _cut(self, newest: Sequence[ChatMessage]) -> Program[list[ChatMessage]]:
        """Return the system messages and the newest turn cut to the limit; no part of a turn stands for the whole."""
        fitted = yield from cut_to_fit([*self._pinned, *newest], self._policy.limit)
        front, turn = fitted[: len(self._pinned)], fitted[len(self._pinned) :]
        return [message for message in (*front, *(turn if None not in turn else ())) if message is not None]

    def _fallen(self, start: int) -> int:
        """Return how many of all turns stand before the one sent at position `start`."""
        return self._all_turns.index(self._turns[start]) if 0 <= start < len(self._turns) else 0

    def _blocks_text(self, free: int) -> Program[tuple[str, int]]:
        """Return the blocks' content in at most `free` tokens, and what it adds to the prompt, in tokens."""
        self._notices = []
        room = min(free, int(self._policy.limit * self._policy.blocks_share))
        head = render((), self._asked.language)
        left = room - _JOIN - (yield from count([head]))[0] if self._policy.blocks else 0
        sections: list[str] = []
        for block in self._policy.blocks:
            try:
                content = yield from block.content(self._handing.value(block), self._asked)
            except Exception as error:  # a user's own block may raise anything; the others still serve
                self._notice("memory_block_failed", block, reason=str(as_step_error(block.name, error)))
                continue
            if content.strip():
                text, tokens = yield from self._section(block, content, left)
                if text:
                    sections.append(text)
                    left -= tokens + _JOIN
        if not sections:
            return "", 0
        text = render(sections, self._asked.language)
        base = self._carrier()
        carrying, bare = yield from weigh([insert(base, text), base or ChatMessage(MessageRole.SYSTEM, "")])
        if carrying - bare > free:
            for block in self._policy.blocks:
                self._notice("memory_block_cut", block, room=0)
            return "", 0
        return text, carrying - bare

    def _section(self, block: BaseMemoryBlock, content: str, room: int) -> Program[tuple[str, int]]:
        whole = section(block.name, content)
        tokens, frame = yield from count([whole, section(block.name, "")])
        if tokens <= room:
            return whole, tokens
        short = yield from block.truncate(content, room - frame - _JOIN)
        cut = section(block.name, short)
        (tokens,) = yield from count([cut])
        fits = bool(short.strip()) and tokens <= room
        self._notice("memory_block_cut", block, room=tokens if fits else 0)
        return (cut, tokens) if fits else ("", 0)

    def _notice(self, code: str, block: BaseMemoryBlock, **details: object) -> None:
        self._notices.append(Notice(code, {"block": block.name, **details}))

    def _carrier(self) -> ChatMessage | None:
        """Return the message that the blocks' content goes into, None for a new system message."""
        if self._policy.insert_method is InsertMethod.USER:
            asked = [one for one in (self._sent[-1] if self._sent else ()) if one.role is MessageRole.USER]
            if asked:
                return asked[-1]
        return self._pinned[0] if self._pinned else None

    def _put_together(self, start: int, text: str) -> list[ChatMessage]:
        history = [*self._pinned, *(message for turn in self._sent[start:] for message in turn)]
        if not text:
            return history
        carrier = self._carrier()
        filled = insert(carrier, text)
        if carrier is None:
            return [filled, *history]
        position = len(history) - 1 - next(i for i, one in enumerate(reversed(history)) if one is carrier)
        history[position] = filled
        return history


def _as_sent(stored: StoredMessage, send_reasoning: bool) -> ChatMessage:
    message = stored.message
    if not send_reasoning or not stored.reasoning:
        return message
    return ChatMessage(
        message.role,
        blocks=message.blocks,
        additional_kwargs={**message.additional_kwargs, "reasoning_content": stored.reasoning},
    )


def sends_reasoning(policy: bool | Sequence[str]) -> Program[bool]:
    """Return whether the model that the program runs with is sent reasoning: always, never, or by its name."""
    if isinstance(policy, bool):
        return policy
    try:
        name = (yield from describe()).model_name
    except MissingPart:  # tokens are only counted, by no model
        return False
    return any(fnmatchcase(name, pattern) for pattern in ([policy] if isinstance(policy, str) else policy))


def _language(language: str, question: str, recent: Sequence[StoredMessage]) -> Language:
    if language != "auto":
        return "zh" if language == "zh" else "en"
    asked = question or next((one.content for one in reversed(recent) if one.role is MessageRole.USER), "")
    return detect_language(asked)
