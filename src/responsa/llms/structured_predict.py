"""Asking for an object: the answer is read, and given back to the model once where it is not of the wanted form."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, TypeVar

from ..prompts import en, zh
from ..prompts.language import detect_language
from ..schema.completions import Completion, Sampling
from ..schema.errors import InvalidOption, StructuredOutputFailed
from ..schema.messages import ChatMessage, MessageRole
from ..schema.substitution import substitute
from .json_in_text import parse_json


class StructuredClass(Protocol):
    """What is needed of a class of objects: a pydantic model has it."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Return the JSON schema of its objects."""

    @classmethod
    def model_validate(cls, obj: Any) -> Any:
        """Make an object of a JSON value; raises ValueError if it is not of the form."""


Object = TypeVar("Object", bound=StructuredClass)
Predicting: TypeAlias = Generator[tuple[Sequence[ChatMessage], Sampling], Completion, Object]


def predicting(output_cls: type[Object], messages: Sequence[ChatMessage], sampling: Sampling) -> Predicting[Object]:
    """Ask for an object: yields what to ask, is sent the completion, returns the object.

    Raises:
        StructuredOutputFailed: The answer was cut at its token limit, or is not of the form even when corrected.
    """
    if not hasattr(output_cls, "model_json_schema") or not hasattr(output_cls, "model_validate"):
        raise InvalidOption("output_cls", output_cls, "a pydantic model's class")
    sampling = replace(sampling, output_schema=output_cls.model_json_schema())
    completion = yield messages, sampling
    try:
        return _read(output_cls, completion)
    except StructuredOutputFailed as error:
        if completion.finish_reason == "length":
            raise
        asked = " ".join(message.content for message in messages[-1:])
        texts = zh if detect_language(asked) == "zh" else en
        request = substitute(texts.REPAIR_USER, {"reason": error.reason})
    repair = (ChatMessage(MessageRole.ASSISTANT, completion.text), ChatMessage(MessageRole.USER, request))
    return _read(output_cls, (yield [*messages, *repair], sampling))


def _read(output_cls: type[Object], completion: Completion) -> Object:
    try:
        only_objects = output_cls.model_json_schema().get("type") == "object"
        value = output_cls.model_validate(parse_json(completion.text, only_objects=only_objects))
    except (StructuredOutputFailed, ValueError) as error:  # what pydantic raises is a ValueError
        if completion.finish_reason == "length":
            reason = "it was cut at its token limit (max_tokens)"
        else:
            reason = error.reason if isinstance(error, StructuredOutputFailed) else _short(error)
        raise StructuredOutputFailed(reason, completion.text) from error
    if not isinstance(value, output_cls):
        raise StructuredOutputFailed(f"it made a {type(value).__name__}", completion.text)
    return value


def _short(error: ValueError) -> str:
    """Return a validation error's places and messages in one line."""
    details = getattr(error, "errors", None)
    if not callable(details):
        return " ".join(str(error).split())[:500]
    places = (f"{'.'.join(map(str, one.get('loc', ())))}: {one.get('msg', '')}" for one in details())
    return "; ".join(places)[:500]
