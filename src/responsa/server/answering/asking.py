"""From a request to a turn."""

from __future__ import annotations

from responsa.response_synthesizers import get_response_synthesizer
from responsa.response_synthesizers.question import checked_question
from responsa.schema.errors import InvalidRequest
from responsa.schema.nodes import NodeWithScore, TextNode

from ..models.requests import AskRequest, PassageIn
from ..service import Service
from .turn import Turn


async def turn_of(request: AskRequest, service: Service) -> Turn:
    """Return the turn that a request asks for.

    Raises:
        UnknownIndex: There is no such index.
        InvalidRequest: There is neither an index nor passages, and the mode needs some.
        UsageError: The question or an option cannot be used.
    """
    question = checked_question(request.question)
    synthesizer = get_response_synthesizer(service.llm, response_mode=request.mode)
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
    )


_SHOWN = frozenset(["title", "category", "question", "date"])


def _node(passage: PassageIn) -> NodeWithScore:
    node = TextNode(
        passage.text,
        metadata=dict(passage.metadata),
        excluded_llm_metadata_keys=[name for name in passage.metadata if name not in _SHOWN],
    )
    if passage.id is not None:
        node.id_ = passage.id
    return NodeWithScore(node, passage.score)
