"""An upper estimate of tokens by script, for when no tokenizer is at hand."""

from __future__ import annotations

from typing import Final

# What a chat template puts around each message, and around all of them (a system prompt of its own included), at most.
TOKENS_A_MESSAGE: Final = 8
TOKENS_A_TEMPLATE: Final = 64

# Each UTF-8 byte by what it costs: a letter, a space, other white space, a sign that comes in rows, or the first byte
# of a character of three bytes (T Indic and Thai, E East Asian) or four (F emoji); anything else is one token.
_LETTERS: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def _kind(byte: int) -> bytes:
    if byte in _LETTERS:
        return b"a"
    if byte in b"\t\n\v\f\r":
        return b"n"
    if byte in b"-=*_#":
        return b"-"
    if byte >= 0xE0:
        return b"T" if byte < 0xE2 else b"E" if byte < 0xF0 else b"F"
    return b" " if byte == 0x20 else b"1"


_KINDS: Final = b"".join(map(_kind, range(256)))
_FOLLOWING_BYTES: Final = bytes(range(0x80, 0xC0))
# Rows that are one token: four letters, four signs, eight spaces, two line ends; a single space goes with its word.
_ROWS: Final = (
    *((b"a" * length, b"1") for length in (4, 3, 2)),
    *((b"-" * length, b"1") for length in (4, 3, 2)),
    *((b" " * length, b"n") for length in (8, 4, 2)),
    (b"nn", b"n"),
)


def estimate_tokens(text: str) -> int:
    """Estimate from above how many tokens a text has, for models that know its language.

    Qwen2.5 counts 0.65 of the estimate in the mean and never more than 0.9, in English and Chinese; a vocabulary
    without Chinese words (SmolLM2) counts up to a quarter more than the estimate in Chinese. Takes about 30 nanoseconds
    a character.

    Args:
        text: Any text.

    Returns:
        A number of tokens, never more than the text has UTF-8 bytes.
    """
    kinds = text.encode("utf-8", "surrogatepass").translate(_KINDS, _FOLLOWING_BYTES)
    for row, one in _ROWS:
        kinds = kinds.replace(row, one)
    tokens = len(kinds) - kinds.count(b" ")
    if not text.isascii():
        tokens += kinds.count(b"T") + (kinds.count(b"E") + 1) // 2 + 3 * kinds.count(b"F")
    return tokens
