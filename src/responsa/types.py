"""What a synthesizer's `get_response` may return, by the names LlamaIndex has for it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import Any, TypeAlias

TokenGen: TypeAlias = Generator[str, None, None]
TokenAsyncGen: TypeAlias = AsyncGenerator[str, None]
# A text, its pieces, or an object of the output class.
RESPONSE_TEXT_TYPE: TypeAlias = str | TokenGen | TokenAsyncGen | Any

__all__ = ["RESPONSE_TEXT_TYPE", "TokenAsyncGen", "TokenGen"]
