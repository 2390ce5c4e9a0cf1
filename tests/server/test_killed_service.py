"""A service that is killed: what was told of is there afterwards, and what broke off is done when run again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
from tests.server.support import events_in

SCRIPT = Path(__file__).with_name("killed_service.py")


@contextmanager
def serving(directory: Path, hold: str = "none") -> Iterator[httpx2.Client]:
    """A client of a service in a process of its own, which is killed at the end."""
    with running(directory, hold) as (client, _):
        yield client


@contextmanager
def running(directory: Path, hold: str) -> Iterator[tuple[httpx2.Client, subprocess.Popen[str]]]:
    """The same, and the process."""
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(directory), hold], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    try:
        with httpx2.Client(base_url=process.stdout.readline().strip(), timeout=60) as client:
            yield client, process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def until_ended(client: httpx2.Client, job_id: str) -> str:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        state: str = client.get(f"/v1/jobs/{job_id}").json()["state"]
        if state not in ("queued", "running"):
            return state
        time.sleep(0.02)
    raise AssertionError("the job did not end")


def test_a_job_that_was_killed_is_interrupted_and_whole_when_run_again(tmp_path: Path) -> None:
    lines = [f'{{"question": "What is number {n}?", "answer": "Number {n} is word{n}."}}' for n in range(20)]
    with serving(tmp_path, "embedder") as client:
        files = [("files", ("facts.jsonl", "\n".join(lines).encode()))]
        job_id = client.post("/v1/documents", files=files).json()["job"]["id"]
        end = time.monotonic() + 120
        while not (passages := client.get(f"/v1/jobs/{job_id}").json()["passages"]):
            assert time.monotonic() < end
            time.sleep(0.02)
        assert passages < 20
    with serving(tmp_path) as client:
        assert client.get(f"/v1/jobs/{job_id}").json()["state"] == "interrupted"
        assert client.get("/v1/jobs").json()["jobs"][0]["state"] == "interrupted"
        assert client.post(f"/v1/jobs/{job_id}/run").status_code == 202
        assert until_ended(client, job_id) == "done"
        assert client.get("/v1/documents").json()["documents"][0]["parts"] == 20
        found = client.post("/v1/search", json={"question": "number", "by": "words", "top_k": 100}).json()["hits"]
        assert sorted(hit["answer"] for hit in found) == sorted(f"Number {n} is word{n}." for n in range(20))


def test_an_answer_that_was_killed_keeps_its_question_and_what_was_read_of_it(tmp_path: Path) -> None:
    body = {"question": "Count.", "mode": "generation", "stream": True}
    with serving(tmp_path, "model") as client:
        session = client.post("/v1/sessions", json={}).json()["id"]
        with client.stream("POST", f"/v1/sessions/{session}/messages", json=body) as reply:
            heard = ""
            for event in events_in(reply):
                heard += event.data["text"] if event.name == "text_delta" else ""
                if heard == "One two three ":
                    break
    with serving(tmp_path) as client:
        messages = client.get(f"/v1/sessions/{session}").json()["messages"]
        assert [(one["content"], one["status"], one["reason"]) for one in messages] == [
            ("Count.", "complete", ""),
            ("One two three ", "interrupted", "process_ended"),
        ]
        again = client.post(f"/v1/sessions/{session}/messages", json={**body, "stream": False})
        assert again.json()["answer"] == "One two three."
        messages = client.get(f"/v1/sessions/{session}").json()["messages"]
        assert [one["content"] for one in messages] == ["Count.", "One two three."]
        assert [one["text"] for one in messages[1]["earlier"]] == ["One two three "]


def test_a_message_that_waited_when_the_service_was_killed_is_kept_and_answered_when_asked_again(
    tmp_path: Path,
) -> None:
    first, second = ({"question": text, "mode": "generation"} for text in ("Count.", "And on?"))
    with running(tmp_path, "model") as (client, process), ThreadPoolExecutor(2) as pool:
        session = client.post("/v1/sessions", json={}).json()["id"]
        path = f"/v1/sessions/{session}/messages"
        asked = [pool.submit(client.post, path, json=first)]
        while len(messages := client.get(f"/v1/sessions/{session}").json()["messages"]) < 2:
            assert not asked[0].done()
            time.sleep(0.01)
        asked.append(pool.submit(client.post, path, json=second))
        while len(messages) < 3:
            assert not asked[1].done()
            time.sleep(0.01)
            messages = client.get(f"/v1/sessions/{session}").json()["messages"]
        assert (messages[2]["content"], messages[2]["status"]) == ("And on?", "partial")
        waiting = messages[2]["id"]
        process.kill()
        for one in asked:
            assert isinstance(one.exception(60), httpx2.TransportError)
    with serving(tmp_path) as client:
        messages = client.get(f"/v1/sessions/{session}").json()["messages"]
        assert [(one["content"], one["status"], one["reason"]) for one in messages[::2]] == [
            ("Count.", "complete", ""),
            ("And on?", "interrupted", "process_ended"),
        ]
        assert client.post(path, json=second).json()["message_id"] == waiting
        messages = client.get(f"/v1/sessions/{session}").json()["messages"]
        assert [one["content"] for one in messages[2:]] == ["And on?", "One two three."]
