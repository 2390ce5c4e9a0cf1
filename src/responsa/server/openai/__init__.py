"""The OpenAI-compatible face: an index and a mode as a model, an answer as a chat completion.

- `naming.py`: models and what they stand for.
- `requests.py`, `replies.py`: what is asked and replied; `asking.py`: from a request to a turn.
- `completion.py`: an answer's events as chunks and as a completion; `footnotes.py`: its sources as text.
- `framing.py`: how the chunks are sent; `errors.py`: errors in OpenAI's shape.
"""

from __future__ import annotations

from .requests import ChatCompletionRequest

__all__ = ["ChatCompletionRequest"]
