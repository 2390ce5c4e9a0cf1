"""Accumulate: one independent answer a passage."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, Unpack

from responsa.packing.packer import Counted, pack_each
from responsa.packing.passages import Pack
from responsa.programs import Failed, Program, warn
from responsa.prompts import BasePromptTemplate, refuses
from responsa.schema.errors import StreamingNotSupported
from responsa.schema.protocols import LLM
from responsa.schema.response import AnswerItem

from .asking import ask_all_for
from .base import BaseSynthesizer
from .options import SynthesizerOptions
from .structure import Reply
from .task import Answer, Task
from .window import show


def answered(item: AnswerItem) -> bool:
    """Tell whether an item holds an answer and not a refusal: for `item_filter`."""
    return bool(item.text) and not refuses(item.text)


SEPARATOR: Final = "\n---------------------\n"


class Accumulate(BaseSynthesizer):
    """Ask the question of every passage on its own, several at a time, and list the answers.

    `Response.items` keeps each answer with its passage; the text joins them, numbered. An answer that fails leaves
    the others as they are. There is no single text to stream: `stream_events` gives every answer's deltas.

    Args:
        text_qa_template: The question; variables `query_str`, `context_str`.
        chat_content_qa_template: In its place with `multimodal=True`.
        separator: What stands between two answers in the text; a keyword of that name can be given with the question.
        item_filter: Which answers to keep, such as `answered`, which leaves out refusals; all when left out.
    """

    mode: ClassVar[str] = "accumulate"

    def __init__(
        self,
        llm: LLM | None = None,
        *,
        text_qa_template: BasePromptTemplate | None = None,
        chat_content_qa_template: BasePromptTemplate | None = None,
        separator: str = SEPARATOR,
        item_filter: Callable[[AnswerItem], bool] | None = None,
        **options: Unpack[SynthesizerOptions],
    ) -> None:
        super().__init__(llm, **options)
        self._prompts = {"text_qa_template": text_qa_template, "chat_content_qa_template": chat_content_qa_template}
        self._separator = separator
        self._item_filter = item_filter

    def check_streaming(self) -> None:
        raise StreamingNotSupported(self.mode)

    def program(self, task: Task) -> Program[Answer]:
        window = yield from self.window(task)
        shown = yield from show(task, self.template("text_qa_template", task), window, packer=self._pack)
        calls = shown.calls("answer", task, items=True)
        replies = yield from ask_all_for(calls, task, shown.budget, self._structure)
        items = [_item(index, *answer) for index, answer in enumerate(zip(shown.fitted.packs, replies, strict=True))]
        return (yield from self._joined(items, task.variables.get("separator", self._separator)))

    def _pack(self, counted: Counted, room: int) -> Program[list[Pack]]:
        return pack_each(counted, room)

    def _joined(self, items: list[AnswerItem], separator: str) -> Program[Answer]:
        failed = [item for item in items if item.error is not None]
        if failed and len(failed) == len(items):
            raise failed[0].error or AssertionError
        for item in failed:
            yield from warn("step_failed", stage=f"answer {item.index + 1}", reason=str(item.error))
        kept = [item for item in items if item.error is None]
        if self._item_filter is not None:
            kept = [item for item in kept if self._item_filter(item)]
        text = separator.join(f"Response {item.index + 1}: {item.text}" for item in kept)
        value = [item.value for item in kept] if self._structure is not None else None
        return Answer(text, value, (*kept, *failed), failed[0].error if failed else None)


def _item(index: int, pack: Pack, reply: Reply | Failed) -> AnswerItem:
    numbers = tuple(dict.fromkeys(piece.passage.number for piece in pack.pieces))
    if isinstance(reply, Failed):
        return AnswerItem(index, "", numbers=numbers, error=reply.error)
    return AnswerItem(index, reply.text, reply.value, numbers)
