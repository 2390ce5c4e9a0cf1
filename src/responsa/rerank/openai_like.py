"""A reranking model behind `POST /v1/rerank`: llama-server, vLLM, Jina, Cohere and their like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..http.client import HTTPClient
from ..http.messages import Exchange, Reply
from ..http.missing_v1 import with_v1_hint
from ..http.timeouts import Timeout
from ..schema.errors import BadResponse

# Beyond it scores are of no scale, and may be too large to calculate with.
_LARGEST: Final = 1e30


class OpenAILikeRerank:
    """Scores texts against a question.

    Args:
        model: The served model's id; "" leaves it to the server.
        api_base: The server's address, with `/v1`.
        api_key: Sent as a bearer token; None sends none.
        additional_kwargs: Further fields of the request's body.
        timeout: Limits of one request with its retries, in seconds.
        max_retries: How often one request may be sent again.
        default_headers: Further headers of every request.
        transport: An httpx2 transport to use instead of the network, for tests.
    """

    def __init__(
        self,
        model: str = "",
        *,
        api_base: str = "http://127.0.0.1:8082/v1",
        api_key: str | None = None,
        additional_kwargs: Mapping[str, Any] | None = None,
        timeout: float | Timeout = 600.0,
        max_retries: int = 3,
        default_headers: Mapping[str, str] | None = None,
        transport: Any = None,
    ) -> None:
        self.model = model
        self._extra = dict(additional_kwargs or {})
        self._client = HTTPClient(
            api_base,
            api_key=api_key,
            timeout=timeout,
            max_retries=max_retries,
            default_headers=default_headers,
            transport=transport,
        )

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return each text's score, in the order of the texts; scores are the model's own, of any range."""
        return self._client.run(with_v1_hint(self._client, self._scoring(query, texts)))

    async def arerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return each text's score without blocking."""
        return await self._client.arun(with_v1_hint(self._client, self._scoring(query, texts)))

    def close(self) -> None:
        """Close the connections of blocking calls."""
        self._client.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._client.aclose()

    def _scoring(self, query: str, texts: Sequence[str]) -> Exchange[list[float]]:
        if not texts:
            return []
        body = {"query": query, "documents": list(texts), "top_n": len(texts), **self._extra}
        if self.model:
            body["model"] = self.model
        reply = yield self._client.post("/rerank", body)
        return _scores(reply, len(texts))


def _scores(reply: Reply, expected: int) -> list[float]:
    results = reply.object().get("results")
    scores: dict[int, float] = {}
    for entry in results if isinstance(results, list) else ():
        index, score = (entry.get("index"), entry.get("relevance_score")) if isinstance(entry, dict) else (None, None)
        if not isinstance(index, int) or not isinstance(score, int | float) or not abs(score) <= _LARGEST:
            raise BadResponse(reply.url, f"a result that is no score: {str(entry)[:100]}")
        scores[index] = float(score)
    if sorted(scores) != list(range(expected)):
        raise BadResponse(reply.url, f"{len(scores)} scores for {expected} texts")
    return [scores[index] for index in range(expected)]
