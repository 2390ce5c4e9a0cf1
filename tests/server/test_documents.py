"""Documents over HTTP: taken by their content, indexed as jobs, replaced, deleted; hostile ones refused."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.retrieval.support import LineSplitter
from tests.server.library import (
    MANUAL,
    CountedEmbedder,
    HeldEmbedder,
    a_library,
    done,
    empty_index,
    found,
    listed,
    sent,
)
from tests.server.support import a_service, in_process, on_a_socket

from responsa.indices import VectorStoreIndex
from responsa.server.documents.documents import clean_name
from responsa.server.documents.files import ContentFiles
from responsa.server.jobs.job import Job
from responsa.server.jobs.queue import Jobs, Report
from responsa.server.jobs.store import JobStore
from responsa.server.models.documents import JobReply
from responsa.server.records.database import Records
from responsa.server.security.keys import KeyStore
from responsa.testing.embedder import BagOfWordsEmbedder


def zipped(**entries: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/"), content)
    return held.getvalue()


def test_files_are_indexed_by_their_content_replaced_by_name_and_deleted(tmp_path: Path) -> None:
    async def scene() -> None:
        async with on_a_socket(a_library(tmp_path)) as client:
            page = b"<html><body><p>The valve opens at 3 bar.</p></body></html>"
            taken = await sent(client, ("manual.md", MANUAL), ("valve.txt", page))
            job = await done(client, taken.job.id)
            assert (job.kind, job.files_done, job.files_total, job.attempts) == ("ingest", 2, 2, 1)
            assert job.passages >= 2
            assert await listed(client) == [
                ("manual.md", "text/markdown", "indexed", 1),
                ("valve.txt", "text/html", "indexed", 1),
            ]
            assert "ISO VG 46" in (await found(client, "X200 pump oil"))[0]
            again = await sent(client, ("manual.md", MANUAL.replace(b"46", b"68")))
            assert again.documents[0].id == taken.documents[0].id
            await done(client, again.job.id)
            texts = await found(client, "X200 pump oil")
            assert "ISO VG 68" in texts[0]
            assert not any("ISO VG 46" in text for text in texts)
            deleted = await client.delete(f"/v1/documents/{taken.documents[0].id}")
            assert deleted.status_code == 202
            await done(client, deleted.json()["id"])
            assert [name for name, *_ in await listed(client)] == ["valve.txt"]
            assert not any("X200" in text for text in await found(client, "X200 pump oil"))
            assert (await client.get(f"/v1/documents/{taken.documents[0].id}")).status_code == 404
            assert len(list((tmp_path / "documents").iterdir())) == 1
            anew = await client.post(f"/v1/documents/{taken.documents[1].id}/reindex")
            await done(client, anew.json()["id"])
            assert "3 bar" in (await found(client, "valve"))[0]
            jobs = (await client.get("/v1/jobs")).json()["jobs"]
            assert [one["kind"] for one in jobs] == ["reindex", "delete", "ingest", "ingest"]

    asyncio.run(scene())


FILES = Path(__file__).parents[1] / "data" / "documents"
BOMB = zipped(**{"word__document.xml": b"<w:document>" + b" " * 300_000_000, "[Content_Types].xml": b"<Types/>"})
HOSTILE = {
    "empty": ("empty.md", b"", "empty"),
    "blank": ("blank.md", b" \n\t ", "empty"),
    "picture": ("manual.pdf", b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "binary"),
    "program": ("notes.txt", b"\x7fELF" + b"\0\xff" * 100, "binary"),
    "noise": ("notes.md", bytes(range(1, 256)) * 20, "unknown_encoding"),
    "control characters": ("notes.txt", b"\x01\x02\x03 text" * 20, "binary"),
    "noise as lines": ("notes.jsonl", hashlib.sha512(b"noise").digest() * 20, "unknown_encoding"),
    "archive": ("notes.docx", zipped(notes=b"text"), "binary"),
    "sheet": ("sheet.docx", zipped(xl__workbook=b"<x/>"), "unsupported"),
    "encrypted": (
        "secret.docx",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
        "encrypted",
    ),
    "encrypted PDF": ("secret.pdf", (FILES / "encrypted.pdf").read_bytes(), "encrypted"),
    "torn PDF": ("torn.pdf", (FILES / "nightly.en.pdf").read_bytes()[:700], "damaged"),
    "torn": ("torn.docx", zipped(word__document=b"<x/>")[:40], "damaged"),
    "gzip in gzip": ("x.md.gz", gzip.compress(gzip.compress(b"text")), "binary"),
    "gzip bomb": ("x.md.gz", gzip.compress(b" " * 3_000_000), "unpacks_too_large"),
}


@pytest.mark.parametrize(("name", "content", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_a_file_that_cannot_be_read_is_refused_and_leaves_nothing(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    async def scene() -> None:
        async with in_process(a_library(tmp_path, max_upload_bytes=2_000_000)) as client:
            alone = await client.post("/v1/documents", files=[("files", (name, content))])
            assert (alone.status_code, alone.json()["error"]["code"]) == (422, "document_refused")
            assert name in alone.json()["error"]["message"]
            beside = await sent(client, ("manual.md", MANUAL), (name, content))
            assert [(one.name, one.reason) for one in beside.refused] == [(name, reason)]
            await done(client, beside.job.id)
            assert [one[0] for one in await listed(client)] == ["manual.md"]
            assert len(list((tmp_path / "documents").iterdir())) == 1
            assert str(tmp_path) not in alone.text

    asyncio.run(scene())


def test_a_document_that_unpacks_without_end_is_skipped_and_the_service_goes_on(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_library(tmp_path)) as client:
            taken = await sent(client, ("bomb.docx", BOMB), ("manual.md", MANUAL))
            job = await done(client, taken.job.id)
            assert [one.name for one in job.skipped] == ["bomb.docx"]
            assert {one[0]: one[2] for one in await listed(client)} == {
                "bomb.docx": "unreadable",
                "manual.md": "indexed",
            }
            assert (await client.get("/healthz")).status_code == 200

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/etc/shadow", "shadow"),
        ("..", "untitled"),
        ("a/..", "untitled"),
        ("a\x00b\x1b[31m.md", "ab[31m.md"),
        ("说明书.md", "说明书.md"),
        ("x" * 5000 + ".md", "x" * 180 + "…" + "x" * 16 + ".md"),
    ],
)
def test_a_name_is_shown_and_never_a_path(name: str, shown: str) -> None:
    assert clean_name(name) == shown


def test_a_name_that_climbs_writes_nowhere_else(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_library(tmp_path / "data")) as client:
            taken = await sent(client, ("../../climbed.md", MANUAL))
            await done(client, taken.job.id)
            assert [one[0] for one in await listed(client)] == ["climbed.md"]
            for path in ("..", "../../keys.json", "%2e%2e%2fkeys.json", "content-x"):
                assert (await client.get(f"/v1/documents/{path}")).status_code in (404, 405)

    asyncio.run(scene())
    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.parts[0] for path in files} == {"data"}
    assert not [path for path in files if "climbed" in path.name]


def test_uploads_are_bounded_in_size_and_number_and_form(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_library(tmp_path, max_upload_bytes=20_000, max_upload_files=2)) as client:
            large = await client.post("/v1/documents", files=[("files", ("a.md", b"x" * 30_000))])
            assert (large.status_code, large.json()["error"]["code"]) == (413, "body_too_large")
            many = await client.post("/v1/documents", files=[("files", (f"{n}.md", MANUAL)) for n in range(3)])
            assert many.status_code == 422
            for wrong in (
                {"json": {"files": []}},
                {"data": {"files": "text"}},
                {"files": [("other", ("a.md", MANUAL))]},
                {"content": b"--x\r\ngarbage", "headers": {"Content-Type": "multipart/form-data; boundary=x"}},
            ):
                reply = await client.post("/v1/documents", **wrong)
                assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_request")
                assert ".." not in reply.json()["error"]["message"]
            unknown = await client.post("/v1/documents", files=[("files", ("a.md", MANUAL))], data={"index": "../docs"})
            assert unknown.json()["error"]["code"] == "unknown_index"
            assert (await client.get("/v1/jobs")).json()["jobs"] == []

    asyncio.run(scene())


def test_changes_need_the_scope_write(tmp_path: Path) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, indexes={"docs": empty_index()}, no_auth=False)
        keys = KeyStore(service.settings.keys_file)
        (_, reader), (_, writer) = keys.add("reader"), keys.add("writer", ["write"])
        async with in_process(service) as client:
            files = [("files", ("manual.md", MANUAL))]
            assert (await client.post("/v1/documents", files=files)).status_code == 401
            client.headers["Authorization"] = f"Bearer {reader}"
            assert (await client.get("/v1/documents")).status_code == 200
            for method, path in (
                ("POST", "/v1/documents"),
                ("DELETE", "/v1/documents/x"),
                ("POST", "/v1/documents/x/reindex"),
                ("POST", "/v1/documents/reindex"),
                ("DELETE", "/v1/jobs/x"),
                ("POST", "/v1/jobs/x/run"),
            ):
                reply = await client.request(method, path)
                assert (reply.status_code, reply.json()["error"]["code"]) == (403, "scope_missing")
            client.headers["Authorization"] = f"Bearer {writer}"
            await done(client, (await sent(client, ("manual.md", MANUAL))).job.id)
            for method, path in (("DELETE", "/v1/documents/x"), ("GET", "/v1/jobs/x"), ("POST", "/v1/jobs/x/run")):
                assert (await client.request(method, path)).status_code == 404

    asyncio.run(scene())


def test_a_job_is_cancelled_while_it_runs_or_waits_and_run_again(tmp_path: Path) -> None:
    async def scene() -> None:
        embedder = HeldEmbedder()
        index = VectorStoreIndex(empty_index().store, embed_model=embedder)
        service = a_service(tmp_path, indexes={"docs": index}, max_jobs=1)
        async with in_process(service) as client:
            first = await sent(client, ("one.md", MANUAL))
            await asyncio.wait_for(embedder.begun.wait(), 60)
            second = await sent(client, ("two.md", MANUAL))
            full = await client.post("/v1/documents", files=[("files", ("three.md", MANUAL))])
            assert (full.status_code, full.json()["error"]["code"]) == (503, "jobs_full")
            assert (await client.get("/healthz")).status_code == 200
            for job, state in ((second.job, "queued"), (first.job, "running")):
                assert (await client.get(f"/v1/jobs/{job.id}")).json()["state"] == state
                assert (await client.delete(f"/v1/jobs/{job.id}")).json()["state"] == "cancelled"
            assert await found(client, "pump") == []
            embedder.allowed.set()
            for job in (first.job, second.job):
                assert (await client.post(f"/v1/jobs/{job.id}/run")).status_code == 202
                await done(client, job.id)
            refused = await client.post(f"/v1/jobs/{first.job.id}/run")
            assert (refused.status_code, refused.json()["error"]["code"]) == (409, "job_not_runnable")
            assert len(await found(client, "pump")) == 2

    asyncio.run(scene())


def test_a_job_that_is_cancelled_before_its_first_step_has_ended(tmp_path: Path) -> None:
    async def scene() -> None:
        async def work(job: Job, report: Report) -> None:
            raise AssertionError("it began")

        records = Records(tmp_path / "service.db")
        jobs = Jobs(JobStore(records), work, 10)
        try:
            # The worker has made the job's task in the loop's next step, which comes before that task's first.
            job = await jobs.submit(Job("ingest", "docs", ()))
            await asyncio.sleep(0)
            assert (await jobs.cancel(job.id)).state == "cancelled"
            assert (await jobs.run_again(job.id)).state == "queued"
        finally:
            await jobs.aclose()
            await records.aclose()

    asyncio.run(scene())


def test_a_job_that_is_cancelled_again_while_its_end_is_stored_is_cancelled(tmp_path: Path) -> None:
    begun, storing, allowed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    class HeldStore(JobStore):
        async def put(self, job: Job) -> None:
            if job.state == "cancelled":
                storing.set()
                await allowed.wait()
            await super().put(job)

    async def work(job: Job, report: Report) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def scene() -> None:
        records = Records(tmp_path / "service.db")
        jobs = Jobs(HeldStore(records), work, 10)
        try:
            job = await jobs.submit(Job("ingest", "docs", ()))
            await begun.wait()
            first = asyncio.ensure_future(jobs.cancel(job.id))
            await storing.wait()
            second = asyncio.ensure_future(jobs.cancel(job.id))
            await asyncio.sleep(0)
            allowed.set()
            assert [(await one).state for one in (first, second)] == ["cancelled"] * 2
        finally:
            await jobs.aclose()
            await records.aclose()

    asyncio.run(scene())


def test_a_job_that_is_run_again_by_several_at_once_runs_once(tmp_path: Path) -> None:
    async def scene() -> None:
        embedder = HeldEmbedder()
        index = VectorStoreIndex(empty_index().store, embed_model=embedder)
        async with in_process(a_service(tmp_path, indexes={"docs": index})) as client:
            job = (await sent(client, ("one.md", MANUAL))).job
            await asyncio.wait_for(embedder.begun.wait(), 60)
            await client.delete(f"/v1/jobs/{job.id}")
            replies = await asyncio.gather(*(client.post(f"/v1/jobs/{job.id}/run") for _ in range(4)))
            assert sorted(reply.status_code for reply in replies) == [202, 409, 409, 409]
            embedder.allowed.set()
            assert (await done(client, job.id)).attempts == 2

    asyncio.run(scene())


def test_no_other_file_is_recorded_while_one_takes_its_place_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[str] = []
    keep = ContentFiles.keep

    def watched(files: ContentFiles, taken_in: Path, document_id: str) -> None:
        with (
            closing(sqlite3.connect(tmp_path / "service.db", timeout=0, isolation_level=None)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("BEGIN IMMEDIATE")
        keep(files, taken_in, document_id)
        kept.append(document_id)

    async def scene() -> None:
        async with in_process(a_service(tmp_path, indexes={"docs": empty_index()})) as client:
            taken = await asyncio.gather(*(sent(client, ("one.md", b"Number %d." % number)) for number in range(4)))
            for one in taken:
                await done(client, one.job.id)
            [document] = (await client.get("/v1/documents")).json()["documents"]
            assert kept == [document["id"]] * 4
            content = (tmp_path / "documents" / f"content-{document['id']}").read_bytes()
            assert document["sha256"] == hashlib.sha256(content).hexdigest()
            assert [text.strip() for text in await found(client, "Number")] == [content.decode()]

    monkeypatch.setattr(ContentFiles, "keep", watched)
    asyncio.run(scene())


def test_a_document_that_is_sent_again_while_its_deletion_runs_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        index = empty_index()
        refresh, begun, allowed = index.arefresh, asyncio.Event(), asyncio.Event()

        async def held(*words: Any, **options: Any) -> Any:
            begun.set()
            await allowed.wait()
            return await refresh(*words, **options)

        async with in_process(a_service(tmp_path, indexes={"docs": index})) as client:
            first = await sent(client, ("one.md", MANUAL))
            await done(client, first.job.id)
            monkeypatch.setattr(index, "arefresh", held)
            deletion = (await client.delete(f"/v1/documents/{first.documents[0].id}")).json()["id"]
            await asyncio.wait_for(begun.wait(), 60)
            again = await sent(client, ("one.md", MANUAL.replace(b"46", b"68")))
            allowed.set()
            await done(client, deletion)
            await done(client, again.job.id)
            assert [(name, state) for name, _, state, _ in await listed(client)] == [("one.md", "indexed")]
            [text] = await found(client, "X200 pump oil")
            assert "ISO VG 68" in text

    asyncio.run(scene())


def test_a_job_tells_how_far_it_is_within_one_document(tmp_path: Path) -> None:
    async def scene() -> None:
        embedder = CountedEmbedder(2)
        store = empty_index().store
        index = VectorStoreIndex(store, embed_model=embedder, transformations=[LineSplitter()], batch_size=4)
        async with in_process(a_service(tmp_path, indexes={"docs": index})) as client:
            text = "\n".join(f"This is line {n}." for n in range(10)).encode()
            job = (await sent(client, ("lines.txt", text))).job
            await asyncio.wait_for(embedder.held.wait(), 60)
            told = JobReply.model_validate((await client.get(f"/v1/jobs/{job.id}")).json())
            assert (told.state, told.embedded, told.passages, told.files_done) == ("running", 8, 0, 0)
            assert await found(client, "line") == []
            await client.delete(f"/v1/jobs/{job.id}")
            embedder.left = 100
            await client.post(f"/v1/jobs/{job.id}/run")
            told = await done(client, job.id)
            assert (told.embedded, told.passages, told.files_done) == (10, 10, 1)

    asyncio.run(scene())


def test_a_document_that_is_deleted_or_sent_again_while_it_is_indexed_is_left_to_its_own_job(tmp_path: Path) -> None:
    async def scene() -> None:
        embedder = HeldEmbedder()
        index = VectorStoreIndex(empty_index().store, embed_model=embedder)
        async with in_process(a_service(tmp_path, indexes={"docs": index})) as client:
            first = await sent(client, ("one.md", MANUAL), ("two.md", MANUAL))
            await asyncio.wait_for(embedder.begun.wait(), 60)
            deleted = (await client.delete(f"/v1/documents/{first.documents[0].id}")).json()["id"]
            again = await sent(client, ("two.md", MANUAL.replace(b"46", b"68")))
            embedder.allowed.set()
            await done(client, first.job.id)
            await done(client, deleted)
            await done(client, again.job.id)
            assert [(name, state) for name, _, state, _ in await listed(client)] == [("two.md", "indexed")]
            [text] = await found(client, "X200 pump oil")
            assert "ISO VG 68" in text

    asyncio.run(scene())


def test_jobs_that_the_services_end_left_are_interrupted_and_done_when_run_again(tmp_path: Path) -> None:
    async def scene() -> None:
        embedder = HeldEmbedder()
        store = empty_index().store
        async with in_process(
            a_service(tmp_path, indexes={"docs": VectorStoreIndex(store, embed_model=embedder)})
        ) as client:
            jobs = [(await sent(client, (name, MANUAL))).job for name in ("one.md", "two.md")]
            await asyncio.wait_for(embedder.begun.wait(), 60)
        index = VectorStoreIndex(store, embed_model=BagOfWordsEmbedder())
        async with in_process(a_service(tmp_path, indexes={"docs": index})) as client:
            for job in jobs:
                assert (await client.get(f"/v1/jobs/{job.id}")).json()["state"] == "interrupted"
                await client.post(f"/v1/jobs/{job.id}/run")
                await done(client, job.id)
            assert len(await found(client, "pump")) == 2

    asyncio.run(scene())
