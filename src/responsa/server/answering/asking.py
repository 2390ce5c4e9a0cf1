"""From a request to a turn."""

from __future__ import annotations

from typing import Final

from responsa.prompts import AnswerStyle
from responsa.response_synthesizers import BaseSynthesizer, ResponseMode, get_response_synthesizer
from responsa.response_synthesizers.question import checked_question
from responsa.schema.errors import InvalidRequest
from responsa.schema.nodes import NodeWithScore, TextNode

from ..models.requests import AskRequest, PassageIn
from ..service import Service
from .turn import Turn


async def turn_of(request: AskRequest, service: Service, mode: ResponseMode | None = None) -> Turn:
    """Return the turn that a request asks for.

    Args:
        request: The request.
        service: Who answers.
        mode: How, in place of the request's own mode.

    Raises:
        UnknownIndex: There is no such index.
        InvalidRequest: There is neither an index nor passages, and the mode needs some.
        UsageError: The question or an option cannot be used.
    """
    question = checked_question(request.question)
    synthesizer = _synthesizer(request, service, request.mode if mode is None else mode)
    index = None
    if request.nodes is not None and request.index is not None:
        raise InvalidRequest(("nodes: not together with index",))
    if request.nodes is None and (request.index is not None or service.indexes.names):
        index = await service.indexes.get(request.index)
    elif request.nodes is None and synthesizer.needs_passages:
        raise InvalidRequest(("nodes: needed, since the service has no index",))
    return Turn(
        question,
        synthesizer,
        index,
        tuple(map(_node, request.nodes or ())),
        request.top_k,
        {} if request.max_tokens is None else {"max_tokens": request.max_tokens},
        service.metrics.watched,
    )


def _synthesizer(request: AskRequest, service: Service, mode: ResponseMode) -> BaseSynthesizer:
    wishes = request.options
    style = AnswerStyle(wishes.audience, wishes.length, wishes.instructions)
    return get_response_synthesizer(
        service.llm,
        response_mode=mode,
        think=request.think,
        style=None if style == AnswerStyle() else style,
        output_schema=request.output_schema,
    )


# Of an entry, its question and answer are shown as JSON besides; see `responsa.packing.passages`.
_SHOWN: Final = frozenset(["title", "category", "date"])


def _node(passage: PassageIn) -> NodeWithScore:
    node = TextNode(
        passage.text,
        metadata=dict(passage.metadata),
        excluded_llm_metadata_keys=[name for name in passage.metadata if name not in _SHOWN],
    )
    if passage.id is not None:
        node.id_ = passage.id
    return NodeWithScore(node, passage.score)
