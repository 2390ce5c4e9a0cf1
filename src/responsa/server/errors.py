"""Errors over HTTP: the package's own, each with its status, in one shape, without what is the operator's alone."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from responsa.prompts.language import Language
from responsa.schema import errors as kinds
from responsa.schema.errors import InternalError, InvalidRequest, NoSuchRoute, ResponsaError

from .field_faults import field_faults
from .openai.errors import openai_error, openai_status, speaks_openai

LOG: Final = logging.getLogger("responsa.server")

STATUS: Final[Mapping[type[ResponsaError], int]] = {
    kinds.UsageError: 422,
    kinds.MissingPart: 500,
    kinds.MissingExtra: 501,
    kinds.WindowAboveServed: 500,
    kinds.TemplateError: 500,
    kinds.NoSuchRoute: 404,
    kinds.BodyTooLarge: 413,
    kinds.KeyNotAccepted: 401,
    kinds.ScopeMissing: 403,
    kinds.OriginRefused: 403,
    kinds.UnknownIndex: 404,
    kinds.IndexNotMade: 404,
    kinds.AnswerNotFound: 404,
    kinds.UnknownModel: 404,
    kinds.TooManyRequests: 429,
    kinds.RunError: 500,
    kinds.ServerError: 502,
    kinds.ServerLoading: 503,
    kinds.RateLimited: 503,
    kinds.ServerTimeout: 504,
    kinds.StructuredOutputFailed: 502,
    kinds.CallBudgetExceeded: 422,
    kinds.IndexLocked: 409,
    kinds.FeedbackNotFound: 404,
    kinds.DocumentNotFound: 404,
    kinds.JobNotFound: 404,
    kinds.JobsFull: 503,
    kinds.JobNotRunnable: 409,
    kinds.RecordsUnavailable: 503,
    kinds.SessionBusy: 409,
    kinds.SessionNotFound: 404,
    kinds.MessageNotFound: 404,
    kinds.ChatStoreUnavailable: 503,
    kinds.QueueFull: 503,
    kinds.AnswerStopped: 409,
    kinds.StreamTooSlow: 409,
    kinds.ServiceEnding: 503,
    kinds.LimitsUnavailable: 503,
}
"""The status of each kind of error; one that is not named has that of the kind it belongs to."""

# Where the operator's servers and files are is for the log alone.
_HIDDEN: Final = {
    "url": {"en": "the configured address", "zh": "所配置的地址"},
    "path": {"en": "(on the server)", "zh": "（服务器上）"},
    "location": {"en": "(on the server)", "zh": "（服务器上）"},
}
# What these quote may name files, hosts and users.
_TOLD_BY_LOG: Final = (
    kinds.StepFailed,
    kinds.RetrievalFailed,
    kinds.IndexFault,
    kinds.ChatStoreFault,
    kinds.RecordsUnavailable,
    kinds.LimitsUnavailable,
    kinds.KeysDamaged,
)
_ADDRESS: Final = re.compile(r"\bhttps?://[^\s'\"<>()]+")
_SEE_LOG: Final = {"en": "the service's log says more", "zh": "详情见服务日志"}


def status_of(error: Exception) -> int:
    """Return the HTTP status of an error."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def error_body(error: Exception, language: str = "en") -> dict[str, Any]:
    """Return an error as JSON values: its code, its sentence and its numbers.

    Addresses and paths of the operator's are left out, and so is whatever an error of another package says.
    """
    if not isinstance(error, ResponsaError):
        error = InternalError()
    shown = copy(error)
    for name, texts in _HIDDEN.items():
        if name in error.details():
            setattr(shown, name, texts[language])
    if isinstance(shown, _TOLD_BY_LOG) and hasattr(shown, "reason"):
        shown.reason = _SEE_LOG[language]
    if isinstance(shown, kinds.RunError):
        for name, value in shown.details().items():
            if isinstance(value, str) and name != "text_so_far":  # a failure may quote the one below it
                setattr(shown, name, _ADDRESS.sub(_HIDDEN["url"][language], value))
    details = {name: value for name, value in shown.details().items() if name not in _HIDDEN}
    return {"code": error.code, "message": shown.render(language), "details": details}


def error_response(error: Exception, scope: Mapping[str, Any]) -> JSONResponse:
    """Return the reply to a request that failed.

    Args:
        error: What it failed with.
        scope: The request's ASGI scope; its `Accept-Language` names the language.
    """
    headers: dict[str, str] = {}
    if isinstance(error, kinds.KeyNotAccepted):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, kinds.BodyTooLarge):
        headers["Connection"] = "close"  # or the rest of the body would be taken in, and thrown away
    pause = getattr(error, "retry_after", None)
    if pause is not None:
        headers["Retry-After"] = str(max(1, round(pause)))
    status, body = status_of(error), error_body(error, language_of(scope))
    if speaks_openai(scope):
        body, status = openai_error(body, status), openai_status(status)
    return JSONResponse({"error": body}, status, headers)


def language_of(scope: Mapping[str, Any]) -> Language:
    """Return the language a request asks for, "en" or "zh"."""
    for name, value in scope.get("headers", ()):
        if name == b"accept-language":
            return "zh" if value.strip().lower().startswith(b"zh") else "en"
    return "en"


def note(error: Exception) -> None:
    """Write to the log what a failure was, where its reply does not say it."""
    if not isinstance(error, ResponsaError):
        LOG.error("unexpected failure", exc_info=error)
    elif status_of(error) >= 500:
        LOG.warning("%s: %s", error.code, error)


def add_error_handlers(app: FastAPI, on_failure: Callable[[Exception], None]) -> None:
    """Let every failure of a route become a reply of the one shape.

    Args:
        app: The application.
        on_failure: Told of each.
    """

    def replied(request: Request, error: Exception) -> JSONResponse:
        on_failure(error)
        return error_response(error, request.scope)

    async def ours(request: Request, error: Exception) -> JSONResponse:
        note(error)
        return replied(request, error)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return replied(request, InvalidRequest(field_faults(error.errors(), language_of(request.scope))))

    async def refused(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if isinstance(error.__cause__, ResponsaError):  # raised while the body was read
            return replied(request, error.__cause__)
        if error.status_code in (404, 405):
            reply = replied(request, NoSuchRoute(request.method, request.url.path[:200]))
            reply.status_code = error.status_code
            reply.headers.update(error.headers or {})
            return reply
        return replied(request, InvalidRequest((str(error.detail).rstrip("."),)))

    app.add_exception_handler(ResponsaError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
