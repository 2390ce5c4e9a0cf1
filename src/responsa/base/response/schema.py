"""Responses, at the place LlamaIndex has them."""

from __future__ import annotations

from typing import TypeAlias

from responsa.schema.pydantic_response import PydanticResponse
from responsa.schema.response import Response
from responsa.schema.streaming_response import AsyncStreamingResponse, StreamingResponse

RESPONSE_TYPE: TypeAlias = Response | StreamingResponse | AsyncStreamingResponse | PydanticResponse

__all__ = ["RESPONSE_TYPE", "AsyncStreamingResponse", "PydanticResponse", "Response", "StreamingResponse"]
