"""The limit of a request's body, held while it comes in: nothing larger is ever in memory."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from responsa.schema.errors import BodyTooLarge

from ..errors import error_response


class BodyLimit:
    """Refuses a body of more than `limit` bytes, whether it says its length or not.

    Args:
        app: The application behind it.
        limit: The most bytes.
        others: The most bytes at paths that have a limit of their own.
    """

    def __init__(self, app: ASGIApp, limit: int, others: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._limit = limit
        self._others = dict(others or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._others.get(scope["path"], self._limit)
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not length.isdigit() or int(length) > limit:
            await error_response(BodyTooLarge(limit), scope)(scope, receive, send)
            return
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                if taken > limit:
                    raise BodyTooLarge(limit)
            return message

        await self._app(scope, counted, send)
