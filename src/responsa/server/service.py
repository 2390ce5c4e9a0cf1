"""What the routes share: the model, the indexes, the runs, the keys."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from responsa.schema.errors import EmbedderNotGiven, UnknownIndex
from responsa.schema.protocols import LLM, ChatStore, Embedder

from .documents.documents import Documents
from .jobs.queue import Jobs
from .jobs.store import JobStore
from .operation.metrics import Metrics
from .readiness import Readiness
from .records.database import Records
from .records.feedback import Feedback
from .runs.admission import Admission
from .runs.registry import Runs
from .security.keys import KeyStore
from .security.limits import Limit, RateLimits
from .sessions.line import Lines
from .sessions.store import Sessions
from .settings import ServerSettings

if TYPE_CHECKING:
    from pydantic import SecretStr

    from responsa.indices import VectorStoreIndex


class Indexes:
    """The indexes served, by name; each is opened when it is first used.

    Args:
        settings: Where they are.
        opened: Indexes that are open already, by name.
    """

    def __init__(self, settings: ServerSettings, opened: Mapping[str, VectorStoreIndex] | None = None) -> None:
        self._settings = settings
        self._opened = dict(opened or {})
        self._opening = asyncio.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """The names, the default first."""
        return tuple(dict.fromkeys([*self._opened, *self._settings.index]))

    def named(self, name: str | None) -> str:
        """Return the name of an index; that of the first one where None.

        Raises:
            UnknownIndex: There is none of that name, or none at all.
        """
        if name is None:
            name = next(iter(self.names), "")
        if name not in self.names:
            raise UnknownIndex(name[:64], self.names)
        return name

    async def get(self, name: str | None, *, make: bool = False) -> VectorStoreIndex:
        """Return an index by its name; the first one where None.

        Args:
            name: Its name.
            make: Whether to make it where its directory holds none yet.

        Raises:
            UnknownIndex: There is none of that name, or none at all.
            IndexFault: It cannot be opened.
        """
        name = self.named(name)
        async with self._opening:
            if name not in self._opened:
                self._opened[name] = await self._open(name, make=make)
        return self._opened[name]

    async def _open(self, name: str, *, make: bool) -> VectorStoreIndex:
        from responsa.indices import VectorStoreIndex

        path = self._settings.index[name]
        if make:
            await self._make(path)
        index = await VectorStoreIndex.aopen(path, embed_model=await self._embedder())
        if index.embed_model is None:
            raise EmbedderNotGiven(str(path), index.store.meta.embed_model)
        return index

    async def _make(self, path: Path) -> None:
        from responsa.retrieval.defaults import embed_model_for_new_index
        from responsa.retrieval.stores.opening import aopen_or_create_store

        model = await self._embedder() or embed_model_for_new_index()
        (await aopen_or_create_store(path, model)).close()

    async def _embedder(self) -> Embedder | None:
        from responsa.embeddings.openai_like import OpenAILikeEmbedding
        from responsa.llms.openai_like import OpenAILike

        base, name = self._settings.embed_api_base, self._settings.embed_model
        key = _secret(self._settings.embed_api_key)
        if base is None:
            return None
        if name is None:
            served = OpenAILike(api_base=base, api_key=key)
            name = (await served.ametadata()).model_name
            await served.aclose()
        return OpenAILikeEmbedding(name, api_base=base, api_key=key)


class Service:
    """What the routes share.

    Args:
        settings: How the service is configured.
        llm: The model that answers; the one behind `settings.api_base` when left out.
        indexes: Indexes that are open already, by name, beside those of the settings.
        keys: The keys; those in `settings.keys_file` when left out.
        chat_store: Where sessions are kept; what `settings.sessions_database` says when left out.
    """

    def __init__(
        self,
        settings: ServerSettings,
        *,
        llm: LLM | None = None,
        indexes: Mapping[str, VectorStoreIndex] | None = None,
        keys: KeyStore | None = None,
        chat_store: ChatStore | None = None,
    ) -> None:
        self.settings = settings
        self.llm = llm if llm is not None else _model(settings)
        self.indexes = Indexes(settings, indexes)
        self.keys = keys if keys is not None else KeyStore(settings.keys_file)
        self.limits = RateLimits(settings.limits_file, [Limit.parse(text) for text in settings.limits])
        servers = {} if llm is not None else {"model": (settings.api_base, _secret(settings.api_key))}
        if settings.embed_api_base is not None:
            servers["embeddings"] = (settings.embed_api_base, _secret(settings.embed_api_key))
        self.readiness = Readiness(self, servers)
        admission = Admission(self._slots, settings.max_waiting)
        self.metrics = Metrics(admission)
        self.runs = Runs(settings, admission, self.metrics.error)
        self.sessions = Sessions(settings, chat_store)
        self.lines = Lines()
        self.records = Records(settings.data_dir / "service.db")
        self.feedback = Feedback(self.records)
        self.documents = Documents(settings, self.records, self.indexes)
        self.jobs = Jobs(JobStore(self.records), self.documents.work, settings.max_jobs)

    async def aclose(self) -> None:
        """Stop what is under way and close connections."""
        await self.runs.aclose()
        await self.jobs.aclose()
        await self.sessions.aclose()
        await self.records.aclose()
        await self.readiness.aclose()
        await self.limits.aclose()
        close = getattr(self.llm, "aclose", None)
        if close is not None:
            await close()

    async def _slots(self) -> int:
        return self.settings.concurrency or (await self.llm.ametadata()).slots


def service_of(connection: HTTPConnection) -> Service:
    """Return the service that a request came to."""
    service: Service = connection.app.state.service
    return service


def _model(settings: ServerSettings) -> LLM:
    from responsa.llms.openai_like import OpenAILike

    return OpenAILike(
        settings.model,
        api_base=settings.api_base,
        api_key=_secret(settings.api_key),
        temperature=settings.temperature,
        context_window=settings.context_window,
        max_tokens=settings.max_tokens,
        timeout=settings.timeout,
    )


def _secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value is not None else None
