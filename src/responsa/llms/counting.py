"""Asking a server to count tokens with the model's own tokenizer. No I/O of its own."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ..http.client import HTTPClient
from ..http.messages import Batch, BatchResult, Reply
from ..schema.errors import BadResponse, ServerError

# One request carries this many texts and characters at most.
TEXTS_A_REQUEST: Final = 64
CHARACTERS_A_REQUEST: Final = 400_000
# No vocabulary has this token: llama-server passes it through, and so it marks where each text ends.
SEPARATOR: Final = -1

Counting: TypeAlias = Generator[Batch, list[BatchResult], list[int]]


def count_with_llama_server(client: HTTPClient, texts: Sequence[str], workers: int) -> Counting:
    """Count the tokens of each text as it stands inside a prompt, many texts a request."""
    groups = list(_groups(texts))
    requests = [
        client.post("//tokenize", {"content": [part for text in group for part in (text, SEPARATOR)]})
        for group in groups
    ]
    results = yield Batch(requests, workers)
    counts: list[int] = []
    for group, reply in zip(groups, _replies(results), strict=True):
        found = _between_separators(_tokens(reply))
        if len(found) != len(group):
            raise BadResponse(reply.url, f"{len(found)} texts tokenized of {len(group)}")
        counts += found
    return counts


def count_specials_with_llama_server(client: HTTPClient) -> Counting:
    """Count the tokens the server puts around every prompt, such as the one that begins a text."""
    results = yield Batch([client.post("//tokenize", {"content": "", "add_special": True})])
    return [len(_tokens(_replies(results)[0]))]


def render_with_llama_server(
    client: HTTPClient, bodies: Sequence[Mapping[str, Any]], workers: int
) -> Generator[Batch, list[BatchResult], list[str]]:
    """Return the prompt the server makes of each request's messages."""
    results = yield Batch([client.post("//apply-template", body) for body in bodies], workers)
    prompts: list[str] = []
    for reply in _replies(results):
        prompt = reply.object().get("prompt")
        if not isinstance(prompt, str):
            raise BadResponse(reply.url, "no prompt")
        prompts.append(prompt)
    return prompts


def count_with_vllm(client: HTTPClient, bodies: Sequence[Mapping[str, Any]], workers: int) -> Counting:
    """Count the tokens of each body: a `prompt`, or `messages`."""
    results = yield Batch([client.post("//tokenize", body) for body in bodies], workers)
    counts: list[int] = []
    for reply in _replies(results):
        count = reply.object().get("count")
        if not isinstance(count, int):
            raise BadResponse(reply.url, "no count")
        counts.append(count)
    return counts


def _replies(results: Sequence[BatchResult]) -> list[Reply]:
    replies = []
    for result in results:
        if isinstance(result, ServerError):
            raise result
        replies.append(result)
    return replies


def _tokens(reply: Reply) -> list[Any]:
    tokens = reply.object().get("tokens")
    if not isinstance(tokens, list):
        raise BadResponse(reply.url, "no tokens")
    return tokens


def _between_separators(tokens: list[Any]) -> list[int]:
    counts, count = [], 0
    for token in tokens:
        if token == SEPARATOR:
            counts.append(count)
            count = 0
        else:
            count += 1
    return counts


def _groups(texts: Sequence[str]) -> Iterator[list[str]]:
    group: list[str] = []
    size = 0
    for text in texts:
        if group and (len(group) == TEXTS_A_REQUEST or size + len(text) > CHARACTERS_A_REQUEST):
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text)
    if group:
        yield group
