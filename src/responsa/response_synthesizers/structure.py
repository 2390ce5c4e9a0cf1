"""Answers as objects: the schema a model is given, and the reading of what it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from responsa.schema.errors import MissingExtra, StructuredOutputFailed

if TYPE_CHECKING:
    from pydantic import BaseModel


class Structure:
    """The form of an answer that is an object.

    Args:
        output_cls: A Pydantic model.
    """

    def __init__(self, output_cls: type[BaseModel]) -> None:
        self.output_cls = output_cls
        self.schema: dict[str, Any] = output_cls.model_json_schema()

    def parse(self, text: str) -> BaseModel:
        """Return the object that `text` holds, bare or inside prose or a code fence.

        Raises:
            StructuredOutputFailed: It holds none that fits.
        """
        from pydantic import ValidationError

        try:
            return self.output_cls.model_validate_json(_object_text(text))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise StructuredOutputFailed(f"{place}: {first['msg']}" if place else first["msg"], text) from error

    def partial(self, text: str) -> BaseModel | None:
        """Return the object as far as an unfinished `text` holds it, unchecked; None before it has begun."""
        try:
            from pydantic_core import from_json
        except ImportError as error:
            raise MissingExtra("pydantic", "server") from error

        start = text.find("{")
        if start < 0:
            return None
        try:
            fields = from_json(text[start:], allow_partial="trailing-strings")
        except ValueError:
            return None
        return self.output_cls.model_construct(**fields) if isinstance(fields, dict) else None


def _object_text(text: str) -> str:
    """Return the outermost braces and what is between them; the text itself where there are none."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text
