"""What the routes share: the model, the indexes, the runs, the keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from responsa.schema.protocols import LLM, ChatStore

from .documents.documents import Documents
from .indexes import Indexes
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
from .settings import ServerSettings, secret_text

if TYPE_CHECKING:
    from responsa.indices import VectorStoreIndex


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
        servers = {} if llm is not None else {"model": (settings.api_base, secret_text(settings.api_key))}
        if settings.embed_api_base is not None:
            servers["embeddings"] = (settings.embed_api_base, secret_text(settings.embed_api_key))
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
        api_key=secret_text(settings.api_key),
        temperature=settings.temperature,
        context_window=settings.context_window,
        max_tokens=settings.max_tokens,
        timeout=settings.timeout,
    )
