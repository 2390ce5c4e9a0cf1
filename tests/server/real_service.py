"""A service before a real model and a real embedding server, which notes the routes it is asked on."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import uvicorn

from responsa.local.llama_server import LlamaServer
from responsa.server import Service, load_settings
from responsa.server.models.documents import JobReply
from responsa.server.serving import server_config

Test = TypeVar("Test", bound=Callable[..., None])

ROUTES: set[str] = set()
"""All routes that tests say they ask."""


def asks(*routes: str) -> Callable[[Test], Test]:
    """Say which routes a test asks; it fails if one of them is not asked, or never with success."""

    def noted(test: Test) -> Test:
        ROUTES.update(routes)
        test.routes = routes  # type: ignore[attr-defined]
        return test

    return noted


@dataclass
class RealService:
    """The service, and the real servers behind it.

    Args:
        client: A client of the service.
        llama: The model server.
        embedding: The embedding server.
        succeeded: The method and path of every request that came out well.
    """

    client: httpx2.Client
    llama: LlamaServer
    embedding: LlamaServer
    succeeded: list[str] = field(default_factory=list)

    def note(self, response: httpx2.Response) -> None:
        if response.is_success:
            self.succeeded.append(
                f"{response.request.method} {response.request.url.raw_path.decode().partition('?')[0]}"
            )

    def has_answered(self, route: str) -> bool:
        """Whether a request of a route came out well since `succeeded` was last cleared."""
        pattern = re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route)))
        return any(pattern.fullmatch(one) for one in self.succeeded)

    def slots_taken(self) -> int:
        """How many slots of the model server are at work."""
        slots = httpx2.get(f"{self.llama.url.removesuffix('/v1')}/slots").json()
        return sum(slot["is_processing"] for slot in slots)

    def tokens_generated(self) -> float:
        """How many tokens the model server has generated for calls that came to their end."""
        text = httpx2.get(f"{self.llama.url.removesuffix('/v1')}/metrics").text
        return number_of(text, "llamacpp:tokens_predicted_total")

    def job(self, job_id: str) -> JobReply:
        return JobReply.model_validate(self.client.get(f"/v1/jobs/{job_id}").json())

    def done(self, job_id: str) -> JobReply:
        """Wait for a job's end, which is a good one."""
        until(lambda: self.job(job_id).state not in ("queued", "running"))
        job = self.job(job_id)
        assert (job.state, job.error, job.skipped) == ("done", None, [])
        return job

    def upload(self, name: str, text: str) -> dict[str, Any]:
        """Send a document and wait until it is in the index; return what is told of it."""
        reply = self.client.post("/v1/documents", files=[("files", (name, text.encode()))])
        assert reply.status_code == 202, reply.text
        self.done(reply.json()["job"]["id"])
        [document] = reply.json()["documents"]
        return dict(document)


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end, "it never held"
        time.sleep(0.02)


def number_of(metrics: str, name: str) -> float:
    """The value of a metric without labels, or of one with the labels given in its name."""
    return float(next(line.split()[-1] for line in metrics.splitlines() if line.startswith(f"{name} ")))


@contextmanager
def a_real_service(directory: Path, llama: LlamaServer, embedding: LlamaServer) -> Iterator[RealService]:
    """A service in a thread, with an index that is made when the first document comes."""
    settings = load_settings(
        {
            "no_auth": True,
            "data_dir": directory / "data",
            "index": f"docs={directory / 'index'}",
            "api_base": llama.url,
            "embed_api_base": embedding.url,
        }
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(server_config(Service(settings)))
        serving = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
        serving.start()
        try:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            with httpx2.Client(base_url=url, timeout=120) as client:
                running = RealService(client, llama, embedding)
                client.event_hooks = {"response": [running.note]}
                yield running
        finally:
            server.should_exit = True
            serving.join()
