"""Counting with a tokenizer of one's own, for servers that cannot be asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from ..schema.errors import InvalidOption, MissingExtra


class Tokenizer(Protocol):
    """What `transformers`, `tokenizers` and `tiktoken` tokenizers have in common."""

    def encode(self, text: str) -> Any:
        """Return the text's tokens."""


CountTokens: TypeAlias = Callable[[str], int]


def token_counter(tokenizer: Tokenizer | Callable[[str], Sequence[Any]] | str | Path) -> CountTokens:
    """Return a function that counts tokens.

    Args:
        tokenizer: An object with `encode`, a function from text to tokens, or the path of a `tokenizer.json`.
    """
    if isinstance(tokenizer, str | Path):
        tokenizer = _load(Path(tokenizer))
    encode = getattr(tokenizer, "encode", tokenizer)
    if not callable(encode):
        raise InvalidOption("tokenizer", tokenizer, "an object with encode, a function, or a tokenizer.json's path")
    function: Callable[[str], Any] = encode

    def count(text: str) -> int:
        tokens = function(text)
        return len(getattr(tokens, "ids", tokens))

    return count


def _load(path: Path) -> Tokenizer:
    if not path.is_file():
        raise InvalidOption("tokenizer", str(path), "the path of a tokenizer.json")
    try:
        from tokenizers import Tokenizer as FileTokenizer
    except ImportError as error:
        raise MissingExtra("tokenizers", "tokenizer") from error
    try:
        loaded: Tokenizer = FileTokenizer.from_file(str(path))
    except Exception as error:  # the Rust library raises bare Exception for a file it cannot read
        raise InvalidOption("tokenizer", str(path), f"a readable tokenizer.json ({error})") from error
    return loaded
