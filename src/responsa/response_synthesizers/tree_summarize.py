"""Tree summarize: bottom-up, each level's summaries are the next level's passages, until one prompt holds them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final, Unpack

from responsa.packing.budget import MARGIN
from responsa.packing.cutting import shorten
from responsa.packing.passages import Passage
from responsa.programs import Failed, Program, count, warn
from responsa.prompts import BasePromptTemplate, refuses
from responsa.schema.errors import CallBudgetExceeded, DoesNotConverge
from responsa.schema.protocols import LLM

from .asking import ask_all_for, ask_for
from .base import BaseSynthesizer
from .options import SynthesizerOptions
from .structure import Reply
from .task import Answer, Task
from .window import Shown, show

# The least room of a prompt, in tokens: two short summaries.
_MIN_ROOM: Final = 96
# The shortest that a summary is cut to, in tokens.
_MIN_SUMMARY: Final = 16


class TreeSummarize(BaseSynthesizer):
    """Summarize packs of passages in parallel, then the summaries, until one prompt holds all that is left.

    A summary may take up at most half of a prompt's room, so that every level has at most half as many packs as the
    one before; where a tokenizer counts a prompt higher than its parts, summaries are cut until they fill fewer. Only
    the last call is the user's answer, and streamed.

    Args:
        summary_template: The question at every level; variables `query_str`, `context_str`.
        chat_summary_template: In its place with `multimodal=True`.
        max_calls: The most calls of one answer.
    """

    mode: ClassVar[str] = "tree_summarize"

    def __init__(
        self,
        llm: LLM | None = None,
        *,
        summary_template: BasePromptTemplate | None = None,
        chat_summary_template: BasePromptTemplate | None = None,
        max_calls: int = 1000,
        **options: Unpack[SynthesizerOptions],
    ) -> None:
        super().__init__(llm, **options)
        self._prompts = {"summary_template": summary_template, "chat_summary_template": chat_summary_template}
        self._max_calls = max_calls

    def exact_plan(self) -> bool:
        return False

    def program(self, task: Task) -> Program[Answer]:
        window = yield from self.window(task)
        shown = yield from show(task, self.template("summary_template", task), window, min_room=_MIN_ROOM)
        level = made = last_packs = 0
        error: Exception | None = None
        while True:
            budget = shown.budget
            packs = len(shown.fitted.packs)
            made += packs
            if made + (packs > 1) > self._max_calls:
                raise CallBudgetExceeded(made + (packs > 1), self._max_calls)
            if packs == 1:
                (call,) = shown.calls("answer", task)
                reply = yield from ask_for(call, task, budget, self._structure)
                return Answer(reply.text, reply.value, error=error)
            if level and packs >= last_packs:
                raise DoesNotConverge(level, packs)
            half = shown.fitted.room // 2 - shown.counted.around.fenced - 2 * MARGIN
            length = min(budget.output, max(half, _MIN_SUMMARY))
            lower = replace(shown, budget=replace(budget, output=length))
            replies = yield from ask_all_for(lower.calls("summarize", task, visible=False), task, budget, None)
            summaries, failures = _told_apart(replies)
            for failure in failures:
                yield from warn("step_failed", stage="summarize", reason=str(failure))
            if failures and len(failures) == len(replies):
                raise failures[0]
            error = error or (failures[0] if failures else None)
            if not summaries:
                return Answer(task.prompts.refusal, error=error)
            shown = yield from _fewer_packs(shown, summaries, length + MARGIN)
            level, last_packs = level + 1, packs


def _told_apart(replies: Sequence[Reply | Failed]) -> tuple[list[str], list[Exception]]:
    """Return the summaries that say something, and the errors."""
    texts = [reply.text for reply in replies if isinstance(reply, Reply)]
    return [text for text in texts if text and not refuses(text)], [r.error for r in replies if isinstance(r, Failed)]


def _fewer_packs(shown: Shown, summaries: Sequence[str], room: int) -> Program[Shown]:
    """Return prompts that show summaries of at most `room` tokens each, or of half as many until they fill fewer."""
    packs = len(shown.fitted.packs)
    while True:
        shown = yield from shown.with_passages((yield from _as_passages(summaries, room)))
        if len(shown.fitted.packs) < max(packs, 2) or room // 2 < _MIN_SUMMARY:
            return shown
        room //= 2


def _as_passages(summaries: Sequence[str], room: int) -> Program[list[Passage]]:
    """Return summaries as passages without a number, those well over `room` tokens cut at a sentence's end.

    A plan's placeholders are a little over it, and must stay as long as any summary.
    """
    tokens = yield from count(summaries)
    passages: list[Passage] = []
    for summary, length in zip(summaries, tokens, strict=True):
        text = summary if length <= room + MARGIN else (yield from shorten(summary, room))
        passages.append(Passage(0, "", text))
    return passages
