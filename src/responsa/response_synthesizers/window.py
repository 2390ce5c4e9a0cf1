"""What one call may use of the LLM's window, and the prompts of a template that fit into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from responsa.packing.budget import MARGIN, MIN_ROOM, Budget, share_out
from responsa.packing.fitting import Builder, Fitted, Messages, Packer, fit
from responsa.packing.history import fit_history
from responsa.packing.packer import Around, Counted, count_passages, pack, pack_each
from responsa.packing.passages import EMPTY, Pack, Passage, whole_pack
from responsa.programs import LLMCall, Program, measure, warn
from responsa.prompts import BasePromptTemplate

from .asking import build_call
from .task import Task


@dataclass(frozen=True, slots=True)
class Window:
    """What one call may use, in tokens.

    Args:
        size: All that prompt and answer may have together.
        wanted: What an answer is to have.
        image_tokens: What a picture counts.
        pack_limit: The most a pack may have, where that was limited.
        overlap_ratio: How much of a piece of a passage that must be cut the next piece may repeat.
        schema_tokens: Kept free for a schema that the LLM may add to the prompt.
    """

    size: int
    wanted: int
    image_tokens: int
    pack_limit: int | None = None
    overlap_ratio: float = 0.0
    schema_tokens: int = 0

    def share_out(self, fixed: int, *, min_room: int = MIN_ROOM, limited: bool = True) -> Budget:
        """Share it out beside messages of `fixed` tokens; see `responsa.packing.budget.share_out`.

        With `limited=False` the limit of a pack is left aside: the room is not for a pack alone.
        """
        fixed += self.schema_tokens
        limit = self.pack_limit if limited else None
        return share_out(self.size, fixed, self.wanted, min_room=min_room, pack_limit=limit)

    def count(self, task: Task) -> Program[Counted]:
        """Count the tokens of the task's passages."""
        counted = yield from count_passages(task.passages, self.image_tokens)
        return replace(counted, overlap_ratio=self.overlap_ratio) if self.overlap_ratio else counted

    def fit_history(self, task: Task, build: Callable[[Task], Messages]) -> Program[Task]:
        """Return the task with as many of the newest turns as leave a quarter of the window for context."""
        if not task.history:
            return task
        (fixed,) = yield from measure([build(replace(task, history=()))])
        context = max(MIN_ROOM, self.size // 4) if task.passages else 0
        room = self.size - fixed - self.schema_tokens - self.wanted - context - MARGIN
        return replace(task, history=(yield from fit_history(task.history, room)))


# A text of more characters a token than this is not tried whole.
_CHARACTERS_A_TOKEN: Final = 6


def whole(task: Task, build: Builder, window: Window) -> Program[tuple[Budget, Fitted] | None]:
    """Return the one prompt that shows all of a task's passages, or None where it would not fit.

    The usual case: one count, of the final prompt, is all it takes.
    """
    if window.pack_limit is not None or any(passage.media for passage in task.passages):
        return None
    if sum(len(passage.text) for passage in task.passages) > _CHARACTERS_A_TOKEN * window.size:
        return None
    pack = whole_pack(task.passages)
    messages = build(pack)
    (tokens,) = yield from measure([messages])
    if tokens + window.schema_tokens + window.wanted > window.size:
        return None
    budget = Budget(window.size, tokens + window.schema_tokens, window.wanted, window.wanted, room=0)
    return budget, Fitted([pack], [messages], [tokens])


@dataclass(frozen=True, slots=True)
class Shown:
    """The prompts that show a task's passages.

    Args:
        build: Makes the messages that show a pack.
        budget: How the window of each call is shared out.
        counted: The passages, with their lengths where they had to be packed.
        fitted: What each call shows, with its final messages.
    """

    build: Builder
    budget: Budget
    counted: Counted
    fitted: Fitted

    def calls(
        self,
        stage: str,
        task: Task,
        *,
        visible: bool = True,
        items: bool = False,
        hold_back: Callable[[str, bool], bool] | None = None,
    ) -> list[LLMCall]:
        """Return a call for each of the prompts.

        Args:
            stage: What they are for.
            task: The task.
            visible: Whether their text is the answer.
            items: Whether each is an answer of its own.
            hold_back: Which text must not be shown (yet); see `LLMCall`.
        """
        prompts = zip(self.fitted.packs, self.fitted.messages, self.fitted.tokens, strict=True)
        return [
            build_call(
                stage,
                task,
                self.budget,
                messages,
                tokens,
                pack,
                visible=visible,
                item=number if items else None,
                hold_back=hold_back,
            )
            for number, (pack, messages, tokens) in enumerate(prompts)
        ]

    def with_passages(self, passages: Sequence[Passage]) -> Program[Shown]:
        """Return the prompts that show other passages in the same way."""
        counted = yield from count_passages(passages, self.counted.image_tokens)
        return replace(self, counted=counted, fitted=(yield from fit(counted, self.build, self.budget)))


def show(
    task: Task,
    template: BasePromptTemplate,
    window: Window,
    *,
    packer: Packer = pack,
    min_room: int = MIN_ROOM,
) -> Program[Shown]:
    """Pack a task's passages into as many prompts as they need, each measured and fitting.

    Args:
        task: The task.
        template: The prompt; variables `query_str`, `context_str`.
        window: What one call may use.
        packer: `pack`, `pack_each` for one passage a prompt, or `pack_first` for one prompt of what fits.
        min_room: The least room for context, in tokens.

    Raises:
        WindowTooSmall: The template and the question leave no room.
    """
    task = yield from window.fit_history(task, lambda task: task.messages(template))

    def build(pack: Pack) -> Messages:
        return task.messages(template, pack)

    if packer is not pack_each or len(task.passages) == 1:
        fitting = yield from whole(task, build, window)
        if fitting is not None:
            return Shown(build, fitting[0], Counted(task.passages, (), Around(0, 0)), fitting[1])
    (fixed,) = yield from measure([build(EMPTY)])
    budget = window.share_out(fixed, min_room=min_room)
    yield from warn_of_shrunk(budget)
    counted = yield from window.count(task)
    return Shown(build, budget, counted, (yield from fit(counted, build, budget, packer=packer)))


def warn_of_shrunk(budget: Budget) -> Program[None]:
    """Warn where an answer gets less than it was to have."""
    if budget.output < budget.wanted_output:
        yield from warn("output_reserve_shrunk", wanted=budget.wanted_output, given=budget.output, window=budget.window)
