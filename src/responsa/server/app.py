"""The application: routes, the checks in front of them, and what begins and ends with the process."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

import responsa

from .binding import LOOPBACK_NAMES
from .errors import add_error_handlers
from .operation.failures import Failures
from .operation.requests import Requests
from .routes import ROUTERS, documents
from .security.body_limit import BodyLimit
from .security.headers import SecurityHeaders
from .security.origins import OriginCheck
from .service import Service


def create_app(service: Service) -> FastAPI:
    """Return the application of a service.

    Args:
        service: What the routes share; it is closed when the application ends.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None, None]:
        yield
        await service.aclose()

    app = FastAPI(
        title="Responsa",
        version=responsa.__version__,
        description="Answers from documents, planned before they run and traced to their sources.",
        docs_url=None,  # the pages of FastAPI load scripts from another host
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = service
    for router in ROUTERS:
        app.include_router(router)
    add_error_handlers(app, service.metrics.error)
    settings = service.settings
    # The last one added stands in front.
    app.add_middleware(Failures, metrics=service.metrics)
    app.add_middleware(
        BodyLimit, limit=settings.max_body_bytes, others={documents.UPLOAD_PATH: settings.max_upload_bytes}
    )
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors_origins),
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Last-Event-ID"],
            expose_headers=["Answer-Id", "Retry-After", "X-Request-Id"],
        )
    hosts = [*LOOPBACK_NAMES, *settings.allowed_hosts] if settings.no_auth else list(settings.allowed_hosts)
    app.add_middleware(OriginCheck, origins=settings.cors_origins, hosts=hosts)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Requests, metrics=service.metrics)
    return app
