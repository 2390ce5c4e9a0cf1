"""The whole way: real documents, a real index, a real model server."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.cli.memory_parts import Run
from tests.cli.test_index_on_disk import DiskParts

from responsa.cli.options import ServerChoice
from responsa.cli.parts import Parts
from responsa.local.llama_server import LlamaServer
from responsa.samples import path as sample_documents
from responsa.schema.protocols import LLM

pytestmark = pytest.mark.real_server


class ServedParts(DiskParts):
    """Real indexes and a real model; only the embedder is a deterministic one."""

    def llm(self, choice: ServerChoice) -> LLM:
        return Parts.llm(self, choice)


@pytest.fixture
def options(responsa: Run, llama_server: LlamaServer) -> list[str]:
    """The options that lead to a real server and an index of some sample pages."""
    pages = sorted(sample_documents().rglob("*installation*.md"))
    assert len(pages) == 2
    done = responsa("ingest", *map(str, pages), "--index", "index", "--chunk-size", "160", parts=ServedParts())
    assert done.code == 0
    return ["--index", "index", "--api-base", llama_server.url, "--max-tokens", "48", "--top-k", "3"]


@pytest.mark.parametrize("mode", ["compact", "refine"])
def test_answers_are_traced_to_the_documents(responsa: Run, options: list[str], mode: str) -> None:
    done = responsa("ask", "How do I uninstall Rust?", *options, "--mode", mode, "--json", parts=ServedParts())
    assert done.code == 0
    document = json.loads(done.out)
    assert document["text"]
    assert len(document["trace"]) == len(document["plan"]["calls"]) == (1 if mode == "compact" else 3)
    for call, planned in zip(document["trace"], document["plan"]["calls"], strict=True):
        usage = call["completion"]["usage"]
        assert usage["prompt_tokens"] == call["prompt_tokens"] <= planned["prompt_tokens"]
        assert usage["completion_tokens"] <= 48
    for source in document["sources"]:
        text = Path(source["metadata"]["file_path"]).read_text(encoding="utf-8")
        assert text[source["start_character"] : source["end_character"]] == source["text"]
    for citation in document["citations"]:
        if citation["known"]:
            start, end = citation["quote"]
            assert document["sources"][citation["number"] - 1]["text"][start:end] == citation["quoted"]


def test_the_answer_streams_and_its_calls_are_counted(responsa: Run, options: list[str]) -> None:
    done = responsa("ask", "怎样卸载 Rust？", *options, "--trace", "--lang", "zh", parts=ServedParts())
    assert done.code == 0
    assert "检索到 3 条资料" in done.err
    answer, _, sources = done.out.partition("\n来源\n")
    assert answer.strip()
    assert "[3] " in sources
    row = done.out.splitlines()[-1].split()
    assert row[1] == "answer"
    assert int(row[3]) <= 48


def test_a_conversation_streams_rewrites_and_is_kept(
    responsa: Run, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    lines = "How do I uninstall Rust?\nAnd how do I update it?\n/trace\n/plan What is cargo?\n"
    chat = ["chat", "--session", "s", *options]
    done = responsa(*chat, parts=ServedParts(), stdin=lines.encode())
    assert done.code == 0
    assert done.out.count("\nSources\n") == 2
    _, _, calls = done.out.partition("\nCalls\n")
    stages = [line.split()[1] for line in calls.splitlines() if line[:4].strip().isdigit()]
    assert stages == ["condense", "answer", "condense", "answer"]
    assert "at most 2 calls planned" in calls
    again = responsa(*chat, parts=ServedParts(), stdin=b"Thanks!\n/export\n")
    assert "goes on: 4 messages" in again.err
    assert again.out.count("## User") == 3
    assert again.out.count("## Assistant") == 3


def test_the_plan_is_measured_by_the_server_without_asking_the_model(responsa: Run, options: list[str]) -> None:
    done = responsa("ask", "How do I uninstall Rust?", *options, "--plan", "--json", parts=ServedParts())
    planned = json.loads(done.out)["plan"]
    asked = responsa("ask", "How do I uninstall Rust?", *options, "--json", parts=ServedParts())
    assert planned["calls"][0]["prompt_tokens"] == json.loads(asked.out)["trace"][0]["prompt_tokens"]


def test_a_wrong_model_name_lists_what_is_served(responsa: Run, options: list[str], llama_server: LlamaServer) -> None:
    done = responsa("ask", "How?", *options, "--model", "gpt-9", parts=ServedParts())
    assert done.code == 1
    assert llama_server.model in done.err.splitlines()[-1]


def test_documents_embedded_by_a_server_are_searched_through_it(
    responsa: Run, tmp_path: Path, embedding_server: LlamaServer
) -> None:
    (tmp_path / "a.md").write_text("A member can borrow up to eight books.")
    embedding = ["--embed-api-base", embedding_server.url]
    assert responsa("ingest", "a.md", "--index", "i", *embedding, parts=Parts()).code == 0
    facts = json.loads(responsa("index", "info", "--index", "i", "--json", parts=Parts()).out)
    assert facts["embed_model"] == embedding_server.model
    found = responsa("search", "books", "--index", "i", *embedding, parts=Parts())
    assert "eight books" in found.out
    without = responsa("search", "books", "--index", "i", parts=Parts())
    assert (without.code, without.out) == (1, "")
    assert embedding_server.model in without.err
    assert "--embed-api-base" in without.err


@pytest.mark.timeout(900)
def test_the_demonstration_serves_its_own_model_and_leaves_nothing_running(responsa: Run, smollm2: Path) -> None:
    before = children()
    done = responsa("demo", "--demo-model", "smollm2", parts=ServedParts())
    assert done.code == 0
    assert done.out.count("\n$ responsa ask ") == 3
    assert done.out.count("\nSources\n") == 3
    assert "knows English only" in done.err
    again = responsa("ingest", str(sample_documents()), "--index", ".responsa/demo", parts=ServedParts())
    assert "0 new, 0 changed; 64 unchanged." in again.out
    assert children() == before


def children() -> set[str]:
    """The processes that this one has started and that still run."""
    return set(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())
