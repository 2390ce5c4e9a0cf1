"""Answers as objects: the schema a model is given, and the reading of what it writes."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from responsa.llms.json_in_text import parse_json
from responsa.schema.errors import InvalidOption, MissingExtra, StructuredOutputFailed

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call gave.

    Args:
        text: Its text; an object's JSON.
        value: The object, where one was asked for.
        satisfied: Whether the passages shown answered the question, where that was asked for.
        planned: Whether it only stands in for one, in a plan.
    """

    text: str
    value: BaseModel | dict[str, Any] | None = None
    satisfied: bool = True
    planned: bool = False


class Structure(ABC):
    """The form of an answer that is an object.

    Args:
        schema: Its JSON schema, which the server is asked to keep to.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    @property
    def told(self) -> str:
        """The schema as a model may be told it."""
        return json.dumps(self.schema, ensure_ascii=False, separators=(",", ":"))

    @abstractmethod
    def read(self, text: str) -> Reply:
        """Return what `text` holds, bare or inside prose or a code fence.

        Raises:
            StructuredOutputFailed: It holds no object that fits.
        """


class ObjectStructure(Structure):
    """The form of a Pydantic model.

    Args:
        output_cls: The model.
    """

    def __init__(self, output_cls: type[BaseModel]) -> None:
        super().__init__(output_cls.model_json_schema())
        self.output_cls = output_cls

    def read(self, text: str) -> Reply:
        from pydantic import ValidationError

        try:
            value = self.output_cls.model_validate_json(_object_text(text))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise StructuredOutputFailed(f"{place}: {first['msg']}" if place else first["msg"], text) from error
        return Reply(value.model_dump_json(), value)

    def partial(self, text: str) -> BaseModel | None:
        """Return the object as far as an unfinished `text` holds it, unchecked; None before it has begun."""
        fields = _partial_fields(text)
        return self.output_cls.model_construct(**fields) if fields is not None else None


class SchemaStructure(Structure):
    """The form of a JSON schema, whose objects are dictionaries.

    Args:
        schema: The schema; it must describe an object, and refer to nothing outside itself.

    Raises:
        InvalidOption: It is no such schema.
        MissingExtra: The package that checks objects is not installed.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        try:
            from jsonschema_rs import ReferencingError, RegexOptions, ValidationError, validator_for
        except ImportError as error:
            raise MissingExtra("jsonschema-rs", "server") from error
        if schema.get("type") != "object":
            raise InvalidOption("output_schema", schema.get("type"), 'a schema with "type": "object"')
        try:
            # A schema may come from anyone: nothing is fetched for it, and no pattern can take long.
            self._validator = validator_for(dict(schema), offline=True, pattern_options=RegexOptions())
        except (ValueError, TypeError, RecursionError, ReferencingError, ValidationError) as error:
            reason = str(error).splitlines()[0][:200]
            raise InvalidOption("output_schema", "a schema", f"a valid one ({reason})") from error
        super().__init__(dict(schema))

    def read(self, text: str) -> Reply:
        from jsonschema_rs import ValidationError

        try:
            value = parse_json(text, only_objects=True)
            self._validator.validate(value)
        except (ValueError, RecursionError) as error:
            reason = error.message if isinstance(error, ValidationError) else str(error)
            raise StructuredOutputFailed(reason[:500], text) from error
        return Reply(json.dumps(value, ensure_ascii=False), value)

    def partial(self, text: str) -> dict[str, Any] | None:
        """Return the object as far as an unfinished `text` holds it, unchecked; None before it has begun."""
        return _partial_fields(text)


AnswerStructure: TypeAlias = ObjectStructure | SchemaStructure


class DecisionStructure(Structure):
    """The form of a decision: whether the passages answer the question, and the answer.

    Args:
        answer: The answer's own form; None for text.
    """

    def __init__(self, answer: AnswerStructure | None = None) -> None:
        form = answer.schema if answer is not None else {"type": "string"}
        definitions = {"$defs": form["$defs"]} if "$defs" in form else {}
        super().__init__(
            {
                **definitions,
                "type": "object",
                "properties": {"query_satisfied": {"type": "boolean"}, "answer": form},
                "required": ["query_satisfied", "answer"],
            }
        )
        self._answer = answer

    def read(self, text: str) -> Reply:
        fields = parse_json(text, only_objects=True)
        if not isinstance(satisfied := fields.get("query_satisfied"), bool):
            raise StructuredOutputFailed("query_satisfied: true or false is missing", text)
        answer = fields.get("answer")
        if self._answer is not None and satisfied:
            reply = self._answer.read(json.dumps(answer, ensure_ascii=False))
            return Reply(reply.text, reply.value)
        if not isinstance(answer, str) and satisfied:
            raise StructuredOutputFailed("answer: a text is missing", text)
        return Reply(answer.strip() if isinstance(answer, str) else "", satisfied=satisfied)


def _partial_fields(text: str) -> dict[str, Any] | None:
    from pydantic_core import from_json

    start = text.find("{")
    if start < 0:
        return None
    try:
        fields = from_json(text[start:], allow_partial="trailing-strings")
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _object_text(text: str) -> str:
    """Return the object that `text` holds, as JSON."""
    return json.dumps(parse_json(text, only_objects=True))
