"""A journal of completions: a run that broke off goes on where it stopped, and a test needs no model."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from contextlib import aclosing, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeVar

from responsa.schema.completions import Delta, Finish, LLMMetadata, Sampling, StreamItem, Timings, Usage
from responsa.schema.errors import JournalIncomplete
from responsa.schema.excerpts import excerpt
from responsa.schema.messages import ChatMessage, TextBlock
from responsa.schema.protocols import LLM

from .effects import Program
from .sync_driver import run

T = TypeVar("T")

EXCERPT_CHARACTERS: Final = 80


class Journal:
    """What a model answered: streams in their pieces, token counts, its metadata.

    Args:
        path: A file of JSON lines to go on from; each answer is written to it as soon as it is whole.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._path = Path(path) if path is not None else None
        self.streams: dict[str, list[list[StreamItem]]] = {}
        self.facts: dict[str, Any] = {}
        self._writing = threading.Lock()
        written = self._path.read_bytes() if self._path is not None and self._path.exists() else b""
        for line in written.split(b"\n"):
            self._load(line)
        self._missing_end = b"" if not written or written.endswith(b"\n") else b"\n"

    def over(self, llm: LLM | None = None) -> LLM:
        """Return an LLM that answers from the journal, and asks `llm` for what the journal does not hold."""
        return _JournaledLLM(self, llm)

    def keep_stream(self, key: str, items: list[StreamItem]) -> None:
        """Keep a whole stream."""
        self.streams.setdefault(key, []).append(items)
        self._write({"stream": key, "items": [[type(item).__name__, asdict(item)] for item in items]})

    def keep_fact(self, key: str, value: Any) -> None:
        """Keep a count or the metadata."""
        self.facts[key] = value
        self._write({"fact": key, "value": value})

    async def akeep_stream(self, key: str, items: list[StreamItem]) -> None:
        """Keep a whole stream without blocking."""
        await self._in_thread(self.keep_stream, key, items)

    async def akeep_fact(self, key: str, value: Any) -> None:
        """Keep a count or the metadata without blocking."""
        await self._in_thread(self.keep_fact, key, value)

    async def _in_thread(self, keep: Callable[[str, Any], None], key: str, value: Any) -> None:
        if self._path is None:
            keep(key, value)
        else:
            # What a model answered is kept even if its task is cancelled now.
            await asyncio.shield(asyncio.to_thread(keep, key, value))

    def _write(self, entry: dict[str, Any]) -> None:
        if self._path is not None:
            with self._writing, self._path.open("ab") as file:
                file.write(self._missing_end + json.dumps(entry).encode("ascii") + b"\n")
                self._missing_end = b""

    def _load(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
            if "fact" in entry:
                self.facts[entry["fact"]] = entry["value"]
            else:
                items = [_item(kind, fields) for kind, fields in entry["items"]]
                self.streams.setdefault(entry["stream"], []).append(items)
        except (ValueError, KeyError, TypeError):
            return  # a line that a crash cut short: what it held is asked again


def replay(program: Program[T], journal: Journal) -> T:
    """Run a program on what a journal holds, without asking any model.

    Raises:
        JournalIncomplete: The journal does not hold something the program asks for.
    """
    return run(program, journal.over(), concurrency=1)


class _JournaledLLM:
    def __init__(self, journal: Journal, llm: LLM | None) -> None:
        self._journal = journal
        self._llm = llm
        self._used: Counter[str] = Counter()

    @property
    def metadata(self) -> LLMMetadata:
        if "metadata" not in self._journal.facts:
            self._journal.keep_fact("metadata", asdict(self._other("metadata").metadata))
        return LLMMetadata(**self._journal.facts["metadata"])

    async def ametadata(self) -> LLMMetadata:
        if "metadata" not in self._journal.facts:
            await self._journal.akeep_fact("metadata", asdict(await self._other("metadata").ametadata()))
        return self.metadata

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        key, kept = self._next(messages, sampling)
        if kept is not None:
            yield from kept
            return
        items: list[StreamItem] = []
        with closing(self._other("answer", _last_text(messages)).stream(messages, sampling)) as stream:
            for item in stream:
                items.append(item)
                yield item
        self._journal.keep_stream(key, items)

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        key, kept = self._next(messages, sampling)
        if kept is not None:
            for item in kept:
                yield item
            return
        items: list[StreamItem] = []
        async with aclosing(self._other("answer", _last_text(messages)).astream(messages, sampling)) as stream:
            async for item in stream:
                items.append(item)
                yield item
        await self._journal.akeep_stream(key, items)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        keys = [_key("tokens", text) for text in texts]
        missing = self._missing(keys, texts)
        if missing:
            texts = list(missing.values())
            self._keep(missing, self._other("tokens", texts[0]).count_tokens(texts))
        return [self._journal.facts[key] for key in keys]

    async def acount_tokens(self, texts: Sequence[str]) -> list[int]:
        keys = [_key("tokens", text) for text in texts]
        missing = self._missing(keys, texts)
        if missing:
            texts = list(missing.values())
            await self._akeep(missing, await self._other("tokens", texts[0]).acount_tokens(texts))
        return [self._journal.facts[key] for key in keys]

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        keys = [_key("prompt", _plain(prompt)) for prompt in prompts]
        missing = self._missing(keys, prompts)
        if missing:
            prompts = list(missing.values())
            self._keep(missing, self._other("prompt", _last_text(prompts[0])).count_prompts(prompts))
        return [self._journal.facts[key] for key in keys]

    async def acount_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        keys = [_key("prompt", _plain(prompt)) for prompt in prompts]
        missing = self._missing(keys, prompts)
        if missing:
            prompts = list(missing.values())
            await self._akeep(missing, await self._other("prompt", _last_text(prompts[0])).acount_prompts(prompts))
        return [self._journal.facts[key] for key in keys]

    def _missing(self, keys: Sequence[str], asked: Sequence[T]) -> dict[str, T]:
        """Return what was asked, by its key, and is not in the journal."""
        return {key: one for key, one in zip(keys, asked, strict=True) if key not in self._journal.facts}

    def _keep(self, keys: Iterable[str], counts: Sequence[int]) -> None:
        for key, counted in zip(keys, counts, strict=True):
            self._journal.keep_fact(key, counted)

    async def _akeep(self, keys: Iterable[str], counts: Sequence[int]) -> None:
        for key, counted in zip(keys, counts, strict=True):
            await self._journal.akeep_fact(key, counted)

    def _next(self, messages: Sequence[ChatMessage], sampling: Sampling) -> tuple[str, list[StreamItem] | None]:
        key = _key("stream", [_plain(messages), asdict(sampling)])
        kept = self._journal.streams.get(key, [])
        position = self._used[key]
        self._used[key] += 1
        return key, kept[position] if position < len(kept) else None

    def _other(self, missing: str, text: str = "") -> LLM:
        """Return the LLM to ask for what is missing."""
        if self._llm is None:
            raise JournalIncomplete(missing, excerpt(text, EXCERPT_CHARACTERS))
        return self._llm


def _last_text(messages: Sequence[ChatMessage]) -> str:
    return messages[-1].content or "" if messages else ""


def _plain(messages: Sequence[ChatMessage]) -> list[list[Any]]:
    return [
        [m.role.value, [b.text if isinstance(b, TextBlock) else b.address for b in m.blocks], m.additional_kwargs]
        for m in messages
    ]


def _key(kind: str, content: Any) -> str:
    text = json.dumps([kind, content], ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _item(kind: str, fields: dict[str, Any]) -> StreamItem:
    if kind == "Delta":
        return Delta(**fields)
    return Finish(fields["reason"], Usage(**fields["usage"]), Timings(**fields["timings"]), fields["model"])
