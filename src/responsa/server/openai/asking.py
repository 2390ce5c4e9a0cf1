"""From a chat completion's request to a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from responsa.chat_engine.rewriting import Rewriter
from responsa.programs import Program
from responsa.prompts import default_prompts, detect_language
from responsa.schema.errors import InvalidRequest
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.response import Response

from ..answering.asking import turn_of
from ..answering.turn import Turn
from ..models.requests import AskRequest
from ..service import Service
from .footnotes import without_footnotes
from .naming import chosen
from .requests import ChatCompletionRequest, ChatMessageIn

_SAMPLING: Final = ("temperature", "top_p", "seed", "stop")


@dataclass(slots=True)
class ConversationTurn(Turn):
    """The last message of a conversation: searched for without the conversation, answered with it.

    Args:
        history: The conversation before it.
    """

    history: tuple[ChatMessage, ...] = ()

    def program(self) -> Program[Response]:
        words = self.question
        if self.index is not None:
            rewriter = Rewriter(default_prompts(detect_language(self.question)), llm=self.synthesizer.llm)
            words = yield from rewriter.rewrite(self.question, self.history)
        response = yield from self.answer(words, self.history)
        response.searched_with = words if words != self.question else None
        return response


async def conversation_of(body: ChatCompletionRequest, service: Service) -> Turn:
    """Return the turn that a chat completion's request asks for.

    Raises:
        UnknownModel: The service has no such model.
        InvalidRequest: The last message is not the user's, or there is nothing to answer from.
        UsageError: The question or an option cannot be used.
    """
    index, mode = chosen(body.model, service.indexes.names)
    *before, last = body.messages
    if last.role != "user":
        raise InvalidRequest((f"messages.{len(before)}.role: the last message must be the user's",))
    wishes = body.responsa
    form = body.response_format
    schema = form.json_schema.schema_ if form is not None and form.json_schema is not None else None
    if form is not None and form.type == "json_schema" and schema is None:
        raise InvalidRequest(("response_format.json_schema: it is missing",))
    request = AskRequest.model_construct(  # every part of it has been checked as a part of `body`
        question=last.text,
        index=None if wishes.nodes is not None else index,
        mode=mode,
        top_k=wishes.top_k,
        nodes=wishes.nodes,
        max_tokens=body.max_completion_tokens or body.max_tokens,
        think=wishes.think,
        options=wishes.options,
        output_schema=schema,
    )
    turn = await turn_of(request, service)
    sampling = {name: value for name in _SAMPLING if (value := getattr(body, name)) is not None}
    return ConversationTurn(
        question=turn.question,
        synthesizer=turn.synthesizer,
        index=turn.index,
        given=turn.given,
        top_k=turn.top_k,
        watched=turn.watched,
        llm_kwargs={**turn.llm_kwargs, **sampling},
        history=tuple(_spoken(message) for message in before),
    )


def _spoken(message: ChatMessageIn) -> ChatMessage:
    text = message.text
    if message.role == "assistant":
        return ChatMessage(MessageRole.ASSISTANT, without_footnotes(text))
    return ChatMessage(MessageRole.USER, text)
