"""The response whose answer is an object."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from .response import Response


@dataclass(slots=True)
class PydanticResponse(Response):
    """A response that holds an object of the output class in `response`; its fields can be read from here too.

    `text` and `str` give the object as JSON.
    """

    response: Any

    @property
    def text(self) -> str:
        """The object as JSON; empty where there is none."""
        return "" if self.response is None else str(self.response.model_dump_json())

    def get_response(self) -> Response:
        """Return the same response with the object's JSON for its answer."""
        given = {field.name: getattr(self, field.name) for field in fields(Response) if field.init}
        return Response(**{**given, "response": self.text})

    def __getattr__(self, name: str) -> Any:
        # "response" itself is missing only while a copy is being made of it.
        if name != "response" and name in type(self.response).model_fields:
            return getattr(self.response, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __str__(self) -> str:
        return self.text or self.placeholder
