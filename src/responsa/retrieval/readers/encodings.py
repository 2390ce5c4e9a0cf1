"""Bytes to text: UTF-8, UTF-16 and UTF-32 with or without their mark, GB18030, and what else is recognized."""

from __future__ import annotations

import codecs
import re
from typing import Final

from .parts import SourceFile

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES: Final = 65_536
_STATISTICS_BYTES: Final = 16_384
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_SPACES_FOR_CONTROLS: Final = dict.fromkeys((*range(9), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F), " ")
# More control characters than this, a thousand, and it is no text.
_MOST_CONTROLS: Final = 10
# The signs that fill Chinese prose; a text that only happens to decode as GB18030 has hardly any.
_COMMON_CHINESE: Final = re.compile(
    "[的一是不了在有人我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之，。、：；]"
)
_CHINESE: Final = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
_OTHER_WIDE: Final = re.compile("[^\u0000-\u00ff\u2000-\u206f\u2190-\u27bf\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
# So few signs say nothing of how often each is used.
_SHORT: Final = 40
# The accented letters and signs of Western European prose.
_WESTERN: Final = frozenset("àâäáãåæçèéêëìíîïñòóôöõøœùúûüÿßÀÂÄÁÅÆÇÈÉÊËÍÎÏÑÓÔÖØŒÙÚÛÜ«»¿¡°§©®€£·‘’“”–—…\xa0")
# What texts in UTF-16 are made of; the wrong byte order scatters them over all of Unicode.
_EXPECTED: Final = re.compile(
    "[\t\n\r -~\xa0-\u017f\u0370-\u04ff\u2010-\u2026\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]"
)


def decode(source: SourceFile, declared: str | None = None) -> str:
    """Return a file's text with line feeds as its only line ends.

    Args:
        source: The file.
        declared: The encoding the file names itself, as HTML does.

    Raises:
        ReadingFailed: The file is no text, or its encoding is not known.
    """
    text = _decoded(source, declared)
    if _CONTROLS.search(text):
        if len(_CONTROLS.findall(text)) * 1000 > _MOST_CONTROLS * len(text):
            raise source.failed("binary", "control characters")
        text = text.translate(_SPACES_FOR_CONTROLS)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _decoded(source: SourceFile, declared: str | None) -> str:
    data = source.data
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded_with_losses(source, encoding)
    if source.encoding is not None:
        try:
            return data.decode(source.encoding)
        except (UnicodeDecodeError, LookupError):
            raise source.failed("wrong_encoding", source.encoding) from None
    sample = data[:_SAMPLE_BYTES]
    if sample.count(0) * 20 > len(sample) or (b"\0" in sample and _strictly(data, "utf-8") is None):
        return _decoded_wide(source, sample)
    for candidate in ("utf-8", _canonical(declared)):
        if candidate is not None and (text := _strictly(data, candidate)) is not None:
            return text
    recognized = _recognized(sample, source)
    if recognized is None:
        raise source.failed("unknown_encoding")
    return _decoded_with_losses(source, recognized)


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _decoded_with_losses(source: SourceFile, encoding: str) -> str:
    """Decode, and note how many characters were lost; a text with many of them is not in this encoding."""
    text = source.data.decode(encoding, "replace")
    losses = text.count("\ufffd")
    if losses * 100 > len(text):
        raise source.failed("wrong_encoding", encoding)
    if losses:
        source.note("characters_replaced", str(losses))
    return text


def _decoded_wide(source: SourceFile, sample: bytes) -> str:
    """Decode UTF-16 that has no mark, in the byte order that gives a text."""
    best, best_share = "utf-16-le", 0.0
    for encoding in ("utf-16-le", "utf-16-be"):
        text = _strictly(sample[: len(sample) & ~1], encoding) or ""
        share = len(_EXPECTED.findall(text)) / max(1, len(text))
        if share > best_share:
            best, best_share = encoding, share
    if best_share < 0.9:
        raise source.failed("binary", "zero bytes")
    return _decoded_with_losses(source, best)


def _canonical(declared: str | None) -> str | None:
    if declared is None:
        return None
    try:
        name = codecs.lookup(declared.strip()).name
    except LookupError:
        return None
    return {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252"}.get(name, name)


def _recognized(sample: bytes, source: SourceFile) -> str | None:
    """Return the encoding of a text that is not Unicode: Chinese or Western by their signs, else by statistics."""
    if _is_gb18030(sample):
        return "gb18030"
    if _is_western(sample.decode("cp1252", "replace")):
        return "cp1252"
    try:
        import charset_normalizer
    except ImportError:
        raise source.failed("missing_extra", "charset-normalizer") from None
    best = charset_normalizer.from_bytes(sample[:_STATISTICS_BYTES]).best()
    return None if best is None else best.encoding


def _is_gb18030(sample: bytes) -> bool:
    # A character cut at the sample's end is no fault of the encoding.
    text = codecs.getincrementaldecoder("gb18030")("replace").decode(sample)
    chinese = len(_CHINESE.findall(text))
    if not chinese or text.count("\ufffd") * 100 > len(text) or len(_OTHER_WIDE.findall(text)) * 10 > chinese:
        return False
    if chinese >= _SHORT:
        return len(_COMMON_CHINESE.findall(text)) * 10 >= chinese
    everyday = sum(_is_everyday(char) for char in text if char > "\u2fff")
    return everyday * 10 >= 9 * chinese


def _is_everyday(char: str) -> bool:
    """Whether a character is one of the 3,755 most used, or punctuation: the first rows of GB 2312."""
    code = char.encode("gb2312", "ignore")
    return len(code) == 2 and (code[0] <= 0xA3 or 0xB0 <= code[0] <= 0xD7)


def _is_western(text: str) -> bool:
    """Whether a text read as cp1252 has few signs beyond ASCII, and those that Western languages use."""
    beyond = [char for char in text if char > "\x7f"]
    return len(beyond) * 4 <= len(text) and sum(char in _WESTERN for char in beyond) * 20 >= 19 * len(beyond)
