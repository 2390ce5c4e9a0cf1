"""What fails without a name: noted, and replied like every other failure."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import error_response, note
from .metrics import Metrics


class Failures:
    """Turns an unexpected failure into a reply, behind everything that adds to replies.

    The framework's own handler stands in front of all else, where a reply gets no headers and no request id.

    Args:
        app: The application behind it.
        metrics: The numbers.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_begun = False

        async def noted(message: Message) -> None:
            nonlocal is_begun
            is_begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception as error:
            if is_begun or scope["type"] != "http":
                raise
            note(error)
            self._metrics.error(error)
            await error_response(error, scope)(scope, receive, send)
