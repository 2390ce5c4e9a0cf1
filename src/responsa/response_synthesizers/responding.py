"""The response around an answer: what a mode's program returns, with its trace, coverage, citations and outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final, Protocol

from responsa import grounding
from responsa.programs import Program, Recorder, emit, traced, warn
from responsa.prompts import AnswerStyle, refuses
from responsa.schema.events import SourcesFound
from responsa.schema.nodes import NodeWithScore
from responsa.schema.plans import Plan, Shown, SourceCoverage, coverage_of
from responsa.schema.pydantic_response import PydanticResponse
from responsa.schema.response import Outcome, Response

from .repacking import repacked_once
from .task import Answer, Task
from .thinking import with_style

_MOST_LISTED: Final = 20


class Mode(Protocol):
    """What is needed of a synthesizer.

    Args:
        needs_passages: Whether there is nothing to answer from where there are no passages.
        needs_llm: Whether it asks a model at all.
        empty_response: What a response without passages prints, in place of the translated sentence.
        style: How answers are to be written.
        think: Whether the model is to reason first; None leaves it to the model.
    """

    needs_passages: ClassVar[bool]
    needs_llm: ClassVar[bool]
    empty_response: str | None
    style: AnswerStyle
    think: bool | None

    @property
    def writes_text(self) -> bool:
        """Whether its answers are text."""

    def program(self, task: Task) -> Program[Answer | str]:
        """Answer a task."""


def respond(synthesizer: Mode, task: Task, sources: Sequence[NodeWithScore]) -> Program[Response]:
    """Return a response whatever happens but an error before any answer: also when there is nothing to answer from."""
    empty = synthesizer.empty_response
    if sources:
        yield from emit(SourcesFound(tuple(sources)))
    metadata = {source.node_id: dict(source.metadata) for source in sources}
    if synthesizer.needs_passages and not task.passages:
        return Response(
            "",
            list(sources),
            metadata,
            outcome=Outcome.NO_SOURCES,
            language=task.prompts.language,
            coverage=coverage_of(sources, ()),
            grounded=False,
            placeholder=task.prompts.no_sources if empty is None else empty,
        )
    recorder = Recorder()
    answer, coverage = yield from traced(_answer(synthesizer, task, sources, recorder), recorder)
    is_object = hasattr(answer.value, "model_dump_json")
    return (PydanticResponse if is_object else Response)(
        answer.value if is_object else answer.text,
        list(sources),
        metadata,
        language=task.prompts.language,
        value=answer.value,
        items=tuple(replace(item, source_nodes=_nodes(item.numbers, sources)) for item in answer.items),
        outcome=_outcome(answer),
        trace=tuple(recorder.calls),
        coverage=coverage,
        warnings=tuple(recorder.notices),
        grounded=answer.grounded,
        cite=(lambda response: grounding.cite(response, task.passages)) if answer.value is None else None,
    )


def _answer(
    synthesizer: Mode, task: Task, sources: Sequence[NodeWithScore], recorder: Recorder
) -> Program[tuple[Answer, tuple[SourceCoverage, ...]]]:
    if synthesizer.needs_llm:
        style, think = synthesizer.style, synthesizer.think
        task = yield from with_style(task, style, think, writes_text=synthesizer.writes_text)
    result = yield from repacked_once(lambda: synthesizer.program(task))
    answer = result if isinstance(result, Answer) else Answer(result.strip())
    for stage, limit in _cut_stages(recorder).items():
        yield from warn("answer_cut", stage=stage, max_tokens=limit)
    if recorder.calls and not answer.items and answer.value is None and not answer.text.strip():
        yield from warn("answer_empty")
    spans = [span for record in recorder.calls if record.completion is not None for span in record.call.spans]
    coverage = coverage_of(sources, spans)
    if recorder.calls and answer.grounded:
        if answer.value is None:
            shown = tuple(span.number for span in spans)
            texts = [(item.text, item.numbers) for item in answer.items] or [(answer.text, shown)]
            unknown = dict.fromkeys(one for text, numbers in texts for one in grounding.unknown_numbers(text, numbers))
            if unknown:
                yield from warn("unknown_citation", numbers=_listed(list(unknown)))
        whole = {row.number for row in coverage if row.shown is Shown.WHOLE}
        cut = [passage for passage in task.passages if passage.number not in whole]
        if cut and sources:
            yield from warn("passages_cut", count=len(cut), total=len(task.passages))
    return answer, coverage


def _listed(numbers: Sequence[int]) -> str:
    """Return numbers as they are cited, the first of them where a model invents without end."""
    more = ", …" if len(numbers) > _MOST_LISTED else ""
    return ", ".join(f"[{number}]" for number in numbers[:_MOST_LISTED]) + more


def _cut_stages(recorder: Recorder) -> dict[str, int | None]:
    """Return the stages with an answer that ended at its token limit, and the limit."""
    return {
        record.call.stage: record.call.sampling.max_tokens
        for record in recorder.calls
        if record.completion is not None and record.completion.finish_reason == "length"
    }


def _nodes(numbers: Sequence[int], sources: Sequence[NodeWithScore]) -> tuple[NodeWithScore, ...]:
    return tuple(sources[number - 1] for number in numbers if number <= len(sources))


def _outcome(answer: Answer) -> Outcome:
    if answer.error is not None:
        return Outcome.STEP_FAILED
    return Outcome.REFUSED if refuses(answer.text) else Outcome.ANSWERED


def with_coverage(plan: Plan, sources: Sequence[NodeWithScore], *, exact: bool) -> Plan:
    """Return a plan that says what its calls will show of each source."""
    spans = [span for call in plan.calls for span in call.spans]
    exact = plan.exact and (exact or len(plan.calls) <= 1)
    return replace(plan, exact=exact, coverage=coverage_of(sources, spans))
