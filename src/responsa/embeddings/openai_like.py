"""An embedding model behind any OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..http.client import HTTPClient
from ..http.messages import Batch, BatchResult, Exchange, Request
from ..http.missing_v1 import with_v1_hint
from ..http.timeouts import Timeout
from ..http.window_messages import is_input_too_large
from ..schema.errors import ContextWindowExceeded, InputTooLong, InvalidOption, RequestRefused, ServerError
from ..schema.excerpts import excerpt
from .base import BaseEmbedding
from .vectors import check_lengths, read_vectors

EXCERPT_CHARACTERS = 80


class OpenAILikeEmbedding(BaseEmbedding):
    """An embedding model behind an OpenAI-compatible server.

    A batch that fails is sent again alone; one that holds a text too long for the server is halved until that text
    is found and named.

    Args:
        model_name: The served model's id.
        api_base: The server's address, with `/v1`.
        api_key: Sent as a bearer token; None sends none.
        embed_batch_size: Texts a request.
        num_workers: Requests at a time.
        dimensions: Numbers a vector, where the server lets one choose.
        query_prefix: Put before every query.
        text_prefix: Put before every passage.
        query_kwargs: Further fields of the body for queries, such as `{"input_type": "query"}`.
        text_kwargs: Further fields of the body for passages, such as `{"input_type": "passage"}`.
        additional_kwargs: Further fields of every body; None takes a field away.
        encoding_format: "base64" (a quarter of the bytes) or "float"; a server that ignores it may answer either way.
        timeout: Limits of one request with its retries, in seconds.
        max_retries: How often one request may be sent again.
        default_headers: Further headers of every request.
        transport: An httpx2 transport to use instead of the network, for tests.
    """

    def __init__(
        self,
        model_name: str,
        *,
        api_base: str = "http://127.0.0.1:8081/v1",
        api_key: str | None = None,
        embed_batch_size: int = 10,
        num_workers: int = 4,
        dimensions: int | None = None,
        query_prefix: str = "",
        text_prefix: str = "",
        query_kwargs: Mapping[str, Any] | None = None,
        text_kwargs: Mapping[str, Any] | None = None,
        additional_kwargs: Mapping[str, Any] | None = None,
        encoding_format: str = "base64",
        timeout: float | Timeout = 600.0,
        max_retries: int = 3,
        default_headers: Mapping[str, str] | None = None,
        transport: Any = None,
    ) -> None:
        super().__init__(
            model_name, embed_batch_size=embed_batch_size, query_prefix=query_prefix, text_prefix=text_prefix
        )
        if num_workers < 1:
            raise InvalidOption("num_workers", num_workers, "1 or more requests at a time")
        if encoding_format not in ("base64", "float"):
            raise InvalidOption("encoding_format", encoding_format, '"base64" or "float"')
        self.num_workers = num_workers
        self.dimensions = dimensions
        common = {"model": model_name, "encoding_format": encoding_format, "dimensions": dimensions}
        extra = dict(additional_kwargs or {})
        self._query_fields = {**common, **extra, **(query_kwargs or {})}
        self._text_fields = {**common, **extra, **(text_kwargs or {})}
        self._client = HTTPClient(
            api_base,
            api_key=api_key,
            timeout=timeout,
            max_retries=max_retries,
            default_headers=default_headers,
            transport=transport,
        )

    @property
    def api_base(self) -> str:
        """The server's address."""
        return self._client.base

    def close(self) -> None:
        """Close the connections of blocking calls."""
        self._client.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._client.aclose()

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> list[list[float]]:
        return self._client.run(with_v1_hint(self._client, self._embedding(texts, is_query)))

    async def _aembed(self, texts: Sequence[str], *, is_query: bool) -> list[list[float]]:
        return await self._client.arun(with_v1_hint(self._client, self._embedding(texts, is_query)))

    def _embedding(self, texts: Sequence[str], is_query: bool) -> Exchange[list[list[float]]]:
        fields = self._query_fields if is_query else self._text_fields
        starts = range(0, len(texts), self.embed_batch_size)
        batches = [texts[start : start + self.embed_batch_size] for start in starts]
        results: list[BatchResult] = yield Batch([self._request(batch, fields) for batch in batches], self.num_workers)
        vectors: list[list[float]] = []
        for start, batch, result in zip(starts, batches, results, strict=True):
            if not isinstance(result, ServerError):
                vectors += read_vectors(result, len(batch))
            elif _is_too_long(result):
                vectors += yield from self._halved(start, batch, fields, result)
            else:
                raise result
        check_lengths(vectors, self._client.url("/embeddings"))
        return vectors

    def _halved(
        self, start: int, batch: Sequence[str], fields: Mapping[str, Any], error: ServerError
    ) -> Exchange[list[list[float]]]:
        """Embed a refused batch by halves: either each fits, or the text that is too long is found."""
        if len(batch) == 1:
            message = error.message if isinstance(error, RequestRefused) else error.render()
            raise InputTooLong(error.url, start, excerpt(batch[0], EXCERPT_CHARACTERS), message) from error
        middle = len(batch) // 2
        vectors: list[list[float]] = []
        for place, half in ((start, batch[:middle]), (start + middle, batch[middle:])):
            try:
                reply = yield self._request(half, fields)
            except ServerError as refused:
                if not _is_too_long(refused):
                    raise
                vectors += yield from self._halved(place, half, fields, refused)
            else:
                vectors += read_vectors(reply, len(half))
        return vectors

    def _request(self, texts: Sequence[str], fields: Mapping[str, Any]) -> Request:
        body = {"input": list(texts), **{name: value for name, value in fields.items() if value is not None}}
        return self._client.post("/embeddings", body)


def _is_too_long(error: ServerError) -> bool:
    if isinstance(error, ContextWindowExceeded):
        return True
    return isinstance(error, RequestRefused) and is_input_too_large(error.message)
