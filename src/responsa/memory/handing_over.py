"""Handing what falls out of the history to the memory blocks, each message once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from responsa.programs.async_driver import arun
from responsa.programs.effects import Effect, Outcome, Perform, Program, as_step_error, perform, warn
from responsa.programs.plan import PLANNED
from responsa.programs.sync_driver import run
from responsa.schema.completions import Completion
from responsa.schema.protocols import LLM, ChatStore
from responsa.schema.stored import SessionState, StoredMessage

from .memory_blocks.base import BaseMemoryBlock
from .store_steps import state_set, states_of
from .window import TurnOfTalk, weigh

_PREFIX = "memory_block:"


@dataclass(slots=True)
class _Held:
    """What a block holds of a session: its state, and the last message in it."""

    value: Any
    upto: str
    version: int


@dataclass(slots=True)
class HandingOver:
    """The blocks of a memory during one recall.

    Args:
        store: Where states are kept, unless a block says otherwise.
        session_id: The session.
        ids: The identities of all messages of the session, also of those that are not recalled.
        blocks: The blocks.
        batch_tokens: The most tokens handed over at a time, a single turn aside.
        ahead_tokens: How far blocks that ask a model take in turns that have not fallen out yet.
    """

    store: ChatStore
    session_id: str
    ids: Collection[str]
    blocks: Sequence[BaseMemoryBlock]
    batch_tokens: int
    ahead_tokens: int
    _held: dict[str, _Held] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set)

    def value(self, block: BaseMemoryBlock) -> Any:
        """Return a block's state."""
        held = self._held.get(block.name)
        return None if held is None else held.value

    def load(self) -> Program[None]:
        """Read every block's state.

        Where the last message a block took in is not there any more, the conversation is another one, and the block
        begins anew.
        """
        for block in self.blocks:
            yield from self._load(block)

    def hand_over(self, turns: Sequence[TurnOfTalk], fallen: int) -> Program[bool]:
        """Give every block what it has not taken in of the first `fallen` turns; return whether any took something.

        A block that fails keeps its state, is told of in a warning, and is asked again at the next recall.
        """
        took = False
        for block in self.blocks:
            if block.name not in self._failed:
                took |= yield from self._feed(block, turns, fallen)
        return took

    def _feed(self, block: BaseMemoryBlock, turns: Sequence[TurnOfTalk], fallen: int) -> Program[bool]:
        held = self._held[block.name]
        first = self._first(held, turns)
        pending = _closed(turns[first:fallen])
        if not pending:
            return False
        if block.asks_model and first + len(pending) == fallen:
            pending += yield from self._ahead(turns[fallen:-1])
        took = False
        for batch in (yield from self._batches(pending)):
            messages = [message for turn in batch if turn.told for message in turn.messages]
            planned, value = False, held.value
            if messages:
                try:
                    planned, value = yield from _absorbed(block, held.value, messages, self.session_id)
                except Exception as error:  # a user's own block may raise anything; nothing is lost, it is asked again
                    self._failed.add(block.name)
                    reason = str(as_step_error(block.name, error))
                    yield from warn("memory_block_failed", block=block.name, reason=reason)
                    return took
            upto = batch[-1].messages[-1].id
            if not planned:
                kept = {"value": value, "upto": upto}
                store = self._store_of(block)
                name = _PREFIX + block.name
                if not (yield from state_set(store, self.session_id, name, kept, held.version)):
                    yield from self._load(block)  # another process took these in
                    return True
            held.value, held.upto, held.version = value, upto, held.version + (not planned)
            took = True
        return took

    def _first(self, held: _Held, turns: Sequence[TurnOfTalk]) -> int:
        """Return the position of the first turn that a block has not taken in."""
        if not held.upto:
            return 0
        for position, turn in enumerate(turns):
            if any(message.id == held.upto for message in turn.messages):
                return position + 1
        return len(turns)  # it has taken in more than is recalled now

    def _ahead(self, turns: Sequence[TurnOfTalk]) -> Program[list[TurnOfTalk]]:
        ahead: list[TurnOfTalk] = []
        left = self.ahead_tokens
        for turn in _closed(turns):
            left -= sum((yield from weigh([message.message for message in turn.messages])))
            if left < 0:
                break
            ahead.append(turn)
        return ahead

    def _batches(self, turns: Sequence[TurnOfTalk]) -> Program[list[list[TurnOfTalk]]]:
        weights = yield from weigh([message.message for turn in turns for message in turn.messages])
        each = iter(weights)
        batches: list[list[TurnOfTalk]] = []
        left = 0
        for turn in turns:
            tokens = sum(next(each) for _ in turn.messages)
            if not batches or tokens > left:
                batches.append([])
                left = self.batch_tokens
            batches[-1].append(turn)
            left -= tokens
        return batches

    def _load(self, block: BaseMemoryBlock) -> Program[None]:
        states = yield from states_of(self._store_of(block), self.session_id)
        state = states.get(_PREFIX + block.name, SessionState())
        kept = state.value if isinstance(state.value, dict) else {}
        value, upto = kept.get("value"), str(kept.get("upto", ""))
        if upto not in self.ids or not block.belongs(value, self.session_id):
            value, upto = None, ""
        self._held[block.name] = _Held(value, upto, state.version)

    def _store_of(self, block: BaseMemoryBlock) -> ChatStore:
        return self.store if block.state_store is None else block.state_store


def _closed(turns: Sequence[TurnOfTalk]) -> list[TurnOfTalk]:
    """Return the turns up to the first that is still being written."""
    closed: list[TurnOfTalk] = []
    for turn in turns:
        if turn.open:
            break
        closed.append(turn)
    return closed


@dataclass(frozen=True, slots=True)
class _Result:
    """What a block made with its own LLM; a plan gives none."""

    value: Any


def _absorbed(
    block: BaseMemoryBlock, state: Any, messages: Sequence[StoredMessage], session_id: str
) -> Program[tuple[bool, Any]]:
    """Return a block's new state, and whether it is only planned: made of placeholders, not to be kept."""
    if (llm := block.llm) is None:
        return (yield from _watched(block.absorb(state, messages, session_id)))
    own: LLM = llm

    async def acall() -> _Result:
        return _Result(await arun(block.absorb(state, messages, session_id), own))

    outcome = yield from perform(
        Perform(
            block.name, lambda: _Result(run(block.absorb(state, messages, session_id), own)), acall, block.asks_model
        )
    )
    return (False, outcome.value) if isinstance(outcome, _Result) else (True, state)


def _watched(program: Program[Any]) -> Program[tuple[bool, Any]]:
    planned = False
    outcomes: Sequence[Outcome] | None = None
    with closing(program):
        while True:
            try:
                step = program.send(outcomes)  # type: ignore[arg-type]
            except StopIteration as stop:
                return planned, stop.value
            outcomes = yield step
            planned = planned or any(map(_placeholder, step, outcomes))


def _placeholder(effect: Effect, outcome: Outcome) -> bool:
    if isinstance(effect, Perform):
        return effect.asks_model and outcome == ""
    return isinstance(outcome, Completion) and outcome.finish_reason == PLANNED
