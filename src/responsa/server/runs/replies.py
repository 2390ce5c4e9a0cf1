"""A run as the reply to a request: as a stream of events, or as one JSON document at its end."""

from __future__ import annotations

import asyncio

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from ..errors import error_response
from .run import Run

_STREAM_HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
}


def reply_of(run: Run, *, stream: bool, heartbeat: float) -> Response:
    """Return a run as the reply to the request that began it.

    Args:
        run: The run.
        stream: Whether as its events, else as its result.
        heartbeat: The longest silence of a stream, in seconds.
    """
    return EventStream(run, heartbeat=heartbeat) if stream else WholeAnswer(run)


class EventStream(Response):
    """The events of a run as they come; the connection's end leaves the run alone.

    Args:
        run: The run.
        heartbeat: The longest silence, in seconds.
        after: The number of the last event the client has.
    """

    def __init__(self, run: Run, *, heartbeat: float, after: int = 0) -> None:
        super().__init__(headers={**_STREAM_HEADERS, "answer-id": run.run_id})
        del self.headers["content-length"]
        self._run = run
        self._heartbeat = heartbeat
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._run.attach()
        subscription = self._run.listen(after=self._after, heartbeat=self._heartbeat)
        watching = asyncio.ensure_future(_until_gone(receive))
        watching.add_done_callback(lambda _: subscription.close())
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            while (piece := await subscription.next()) is not None:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError:
            pass  # the client is gone; the run may have other listeners
        finally:
            subscription.close()
            watching.cancel()
            self._run.detach()


class WholeAnswer(Response):
    """The result of a run, once it has ended.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run = run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._run.attach()
        waiting = asyncio.ensure_future(self._run.wait())
        watching = asyncio.ensure_future(_until_gone(receive))
        try:
            await asyncio.wait([waiting, watching], return_when=asyncio.FIRST_COMPLETED)
            if self._run.ended_at is None:
                return  # the client is gone
        finally:
            waiting.cancel()
            watching.cancel()
            self._run.detach()
        if self._run.error is not None:
            reply: Response = error_response(self._run.error, scope)
        else:
            body = self._run.result.encode("utf-8", "replace")
            reply = Response(body, 200, {"answer-id": self._run.run_id}, "application/json")
        await reply(scope, receive, send)


async def _until_gone(receive: Receive) -> None:
    message: Message = await receive()
    while message["type"] != "http.disconnect":
        message = await receive()
