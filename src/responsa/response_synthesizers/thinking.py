"""How the answer of a task is to be written: its style, and whether the model reasons before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from responsa.programs import Program, describe
from responsa.prompts import AnswerStyle, think_first
from responsa.schema.completions import Sampling

from .task import Task

SWITCH: Final = "chat_template_kwargs"
"""The request's field that tells a chat template whether the model is to reason."""

# What a chat template may add to a prompt when it is told whether the model is to reason.
SWITCH_TOKENS: Final = 16


def with_style(task: Task, style: AnswerStyle, think: bool | None, *, writes_text: bool) -> Program[Task]:
    """Return the task with how its answer is to be written.

    Args:
        task: The task.
        style: For whom, at which length and with which wishes.
        think: Whether the model is to reason first; None leaves it to the model.
        writes_text: Whether its answers are text; none is asked to reason before an object.
    """
    language = task.prompts.language
    closing = style.render(language)
    if think is not None:
        metadata = yield from describe()
        if metadata.reasoning_switch:
            task = replace(task, sampling=_switched(task.sampling, think))
        elif think and writes_text and not metadata.reasons:
            closing = "\n\n".join(filter(None, (closing, think_first(language))))
            task = replace(task, marked_reasoning=True)
    return replace(task, closing=closing) if closing else task


def _switched(sampling: Sampling, think: bool) -> Sampling:
    given = sampling.extra.get(SWITCH)
    fields = {**(given if isinstance(given, Mapping) else {}), "enable_thinking": think}
    extra: dict[str, Any] = {**sampling.extra, SWITCH: fields}
    return replace(sampling, extra=extra)
