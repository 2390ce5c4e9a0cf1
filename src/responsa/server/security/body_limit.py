"""The limit of a request's body, held while it comes in: nothing larger is ever in memory."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from responsa.schema.errors import BodyTooLarge

from ..errors import error_response


class BodyLimit:
    """Refuses a body of more than `limit` bytes, whether it says its length or not.

    Args:
        app: The application behind it.
        limit: The most bytes.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not length.isdigit() or int(length) > self._limit:
            await error_response(BodyTooLarge(self._limit), scope)(scope, receive, send)
            return
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                if taken > self._limit:
                    raise BodyTooLarge(self._limit)
            return message

        await self._app(scope, counted, send)
