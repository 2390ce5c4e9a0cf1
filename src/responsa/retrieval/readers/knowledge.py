"""Knowledge entries: JSON objects with a question and its answers, one a line or in one array."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from responsa.retrieval.splitting.structure import TITLE_PATH_SEPARATOR
from responsa.schema.excerpts import excerpt
from responsa.schema.identity import fingerprint

from .encodings import decode
from .entry_extra import checked_extra
from .parts import Part, SourceFile

_FIELDS: Final = ("question", "answer", "full_answer", "summary", "url", "title", "category", "product", "date")
LONGEST_FIELD: Final = 2000
"""The most characters of a field that is in the metadata too."""
_LONGEST_TITLE: Final = 200
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_MOST_LINES_NAMED: Final = 5


def read_knowledge(source: SourceFile) -> Iterator[Part]:
    """Read knowledge entries, a part each.

    An entry's text is its question and its answers; its fields are in its metadata, but for long ones, which stand in
    the text alone: every passage of an entry carries its metadata. Its `extra`, an object, is in the metadata as it
    is. Field names may be written in any case, with or without underscores. What tells an entry from the others is its
    `id`, else its question.
    """
    bad_lines: list[int] = []
    bad_extras: list[int] = []
    seen: dict[str, int] = {}
    for line, value in _values(decode(source)):
        fields = _fields(value)
        entry = _entry(fields)
        if entry is None:
            bad_lines.append(line)
            continue
        try:
            extra = checked_extra(fields["extra"]) if fields.get("extra") is not None else {}
        except ValueError:
            bad_extras.append(line)
            extra = {}
        key = fingerprint(str(value.get("id") or entry.get("question") or entry["answer"]))
        seen[key] = seen.get(key, 0) + 1
        yield _part(entry, extra, key if seen[key] == 1 else f"{key}-{seen[key]}", source)
    if not seen:
        raise source.failed("no_entries")
    for reason, lines in (("lines_skipped", bad_lines), ("extra_left_out", bad_extras)):
        if lines:
            named = ", ".join(map(str, lines[:_MOST_LINES_NAMED]))
            source.note(reason, f"{len(lines)} ({named}{', …' if len(lines) > _MOST_LINES_NAMED else ''})")


def _values(text: str) -> Iterator[tuple[int, Any]]:
    """Yield each JSON value and its line, None for what is no JSON."""
    if text.lstrip().startswith("["):
        whole = _parsed(text)
        if isinstance(whole, list):
            yield from ((number, value) for number, value in enumerate(whole, 1))
            return
    at = 0
    number = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        number += 1
        line = text[at:end].strip()
        if line:
            yield number, _parsed(line)
        at = end + 1


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _fields(value: Any) -> dict[str, Any]:
    """Return an object's fields under their names in small letters alone; none of what is no object."""
    if not isinstance(value, dict):
        return {}
    return {re.sub(r"[\W_]", "", str(name)).lower(): content for name, content in value.items()}


def _entry(fields: dict[str, Any]) -> dict[str, str] | None:
    """Return an entry's known fields that have a text, or None for what is no entry."""
    entry: dict[str, str] = {}
    for name in _FIELDS:
        content = fields.get(name.replace("_", ""))
        if isinstance(content, str | int | float) and not isinstance(content, bool):
            text = _SURROGATES.sub("\ufffd", str(content)).replace("\0", " ").replace("\r\n", "\n").strip()
            if text:
                entry[name] = text
    if "answer" not in entry and "full_answer" in entry:
        entry["answer"] = entry["full_answer"]
    return entry if "question" in entry or "answer" in entry else None


def _part(entry: dict[str, str], extra: dict[str, Any], key: str, source: SourceFile) -> Part:
    texts: list[str] = []
    for name in ("question", "answer", "full_answer"):
        if name in entry and entry[name] not in texts:
            texts.append(entry[name])
    if len(entry.get("summary", "")) > LONGEST_FIELD:
        texts.append(entry["summary"])
    title = excerpt(entry.get("title", source.stem), _LONGEST_TITLE)
    path = [title, *([excerpt(entry["question"], _LONGEST_TITLE)] if "question" in entry else [])]
    metadata: dict[str, Any] = {name: text for name, text in entry.items() if len(text) <= LONGEST_FIELD}
    metadata |= {"title": title, "title_path": TITLE_PATH_SEPARATOR.join(path), **({"extra": extra} if extra else {})}
    return Part("\n\n".join(texts), metadata, key)
