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
    if b"\0" in sample:
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
    """Decode UTF-16 that has no mark: in Latin text every second byte is zero, in Chinese line ends are."""
    for encoding, line_end in (("utf-16-le", b"\n\0"), ("utf-16-be", b"\0\n")):
        evens, odds = sample[0::2].count(0), sample[1::2].count(0)
        zeros = (odds, evens) if encoding == "utf-16-le" else (evens, odds)
        if (zeros[0] > 4 * zeros[1] or line_end in sample) and (text := _strictly(source.data, encoding)) is not None:
            plain = len(_CONTROLS.findall(text[:_SAMPLE_BYTES])) * 1000 <= _MOST_CONTROLS * len(text)
            if plain and _looks_like_text(text[:_SAMPLE_BYTES]):
                return text
    raise source.failed("binary", "zero bytes")


def _looks_like_text(text: str) -> bool:
    """Whether most characters are Latin or Chinese: a wrong byte order gives rare signs of all scripts."""
    strange = len(_OTHER_WIDE.findall(text)) + sum(char.isspace() is False and not char.isprintable() for char in text)
    return strange * 5 <= len(text)


def _canonical(declared: str | None) -> str | None:
    if declared is None:
        return None
    try:
        name = codecs.lookup(declared.strip()).name
    except LookupError:
        return None
    return {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252"}.get(name, name)


def _recognized(sample: bytes, source: SourceFile) -> str | None:
    """Return the encoding of a text that is not Unicode: GB18030 by its common signs, else by statistics."""
    # A character cut at the sample's end is no fault of the encoding.
    for cut in range(4):
        text = _strictly(sample[: len(sample) - cut], "gb18030")
        if text is not None:
            wide = len(_CHINESE.findall(text))
            if wide * 10 >= 9 * (wide + len(_OTHER_WIDE.findall(text))) and (
                len(_COMMON_CHINESE.findall(text)) * 10 >= wide
            ):
                return "gb18030"
            break
        if len(source.data) == len(sample):
            break
    try:
        import charset_normalizer
    except ImportError:
        raise source.failed("missing_extra", "charset-normalizer") from None
    best = charset_normalizer.from_bytes(sample).best()
    return None if best is None else best.encoding
