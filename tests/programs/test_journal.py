"""The journal: what is kept of a run, and what a crash may have left of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from tests.programs.scenes import asking, async_run, call

from responsa.programs import Journal, Program, arun, ask, count, measure, replay, run, stream
from responsa.schema.calls import LLMCall
from responsa.schema.completions import Sampling
from responsa.schema.errors import JournalIncomplete, RateLimited
from responsa.schema.events import TextDelta
from responsa.schema.messages import ChatMessage, ImageBlock
from responsa.testing import ScriptedLLM

RUNS = pytest.mark.parametrize("run_it", [run, async_run], ids=["run", "arun"])
HOSTILE = "a\u2028b\u2029c\x85d\re\nf\x1cg 中文 \ud83d 😀 {}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def test_an_answer_with_any_characters_comes_back_from_the_file_as_it_was(path: Path) -> None:
    run(asking(call("q")), Journal(path).over(ScriptedLLM(HOSTILE)))
    assert replay(asking(call("q")), Journal(path)) == [HOSTILE]


def test_the_journal_is_json_a_line(path: Path) -> None:
    run(asking(call("q"), call("r")), Journal(path).over(ScriptedLLM("a")))
    entries = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    assert [len(entry["items"]) for entry in entries if "stream" in entry] == [2, 2]


@RUNS
def test_what_the_journal_holds_is_not_asked_again(run_it: Callable[..., Any], path: Path) -> None:
    llm = ScriptedLLM(["first", "second", "third"])
    assert run_it(asking(call("a"), call("b")), Journal(path).over(llm)) == ["first", "second"]
    assert run_it(asking(call("a"), call("b"), call("c")), Journal(path).over(llm)) == ["first", "second", "third"]
    assert len(llm.prompts) == 3


@RUNS
def test_the_same_question_asked_twice_keeps_both_answers_in_their_order(run_it: Callable[..., Any]) -> None:
    journal = Journal()
    run_it(asking(call("a"), call("a")), journal.over(ScriptedLLM(["first", "second"])), concurrency=1)
    assert run_it(asking(call("a"), call("a")), journal.over(), concurrency=1) == ["first", "second"]


@pytest.mark.parametrize(
    "other",
    [
        call("other"),
        call("a", sampling=Sampling(max_tokens=5)),
        call("a", sampling=Sampling(temperature=0.5)),
        call("a", sampling=Sampling(output_schema={"type": "object"})),
        call("a", sampling=Sampling(extra={"k": 1})),
        LLMCall("answer", (ChatMessage("system", "a"),)),
        LLMCall("answer", (ChatMessage("user", blocks=[ImageBlock(image=b"a")]),)),
        LLMCall("answer", (ChatMessage("user", "a", additional_kwargs={"name": "n"}),)),
    ],
)
def test_another_question_or_way_to_answer_is_another_entry(other: LLMCall) -> None:
    journal = Journal()
    run(asking(call("a")), journal.over(ScriptedLLM("kept")))
    with pytest.raises(JournalIncomplete, match="does not hold the answer to") as caught:
        replay(ask(other), journal)
    assert caught.value.missing == "answer"


def test_a_stage_and_what_is_shown_do_not_change_what_the_model_was_asked() -> None:
    journal = Journal()
    run(asking(call("a")), journal.over(ScriptedLLM("kept")))
    assert replay(asking(call("a", "refine", visible=False, draft=True, prompt_tokens=7)), journal) == ["kept"]


def test_a_failed_call_is_not_kept_and_asked_again() -> None:
    journal = Journal()
    llm = ScriptedLLM([RateLimited("u"), "now it works"])
    run(asking(call("a")), journal.over(llm))
    assert journal.streams == {}
    assert run(asking(call("a")), journal.over(llm)) == ["now it works"]


def test_a_stream_that_was_closed_half_way_is_not_kept(path: Path) -> None:
    events = stream(asking(call("a")), Journal(path).over(llm := ScriptedLLM("one two three")))
    for event in events:
        if isinstance(event, TextDelta):
            break
    events.close()
    assert llm.closed == 1
    assert Journal(path).streams == {}


@RUNS
def test_counts_are_kept_each_text_once(run_it: Callable[..., Any]) -> None:
    def counting() -> Program[list[int]]:
        return (yield from count(["a", "b c", "a"]))

    journal = Journal()
    assert run_it(counting(), journal.over(ScriptedLLM())) == [1, 3, 1]
    assert len(journal.facts) == 2
    assert run_it(counting(), journal.over()) == [1, 3, 1]


@RUNS
def test_prompts_are_measured_once(run_it: Callable[..., Any]) -> None:
    prompts = [(ChatMessage("user", text),) for text in ("a", "b c", "a")]
    journal = Journal()
    assert run_it(measure(prompts), journal.over(ScriptedLLM())) == [5, 7, 5]
    assert run_it(measure(prompts), journal.over()) == [5, 7, 5]
    with pytest.raises(JournalIncomplete, match='tokens of the prompt "new"'):
        run_it(measure([(ChatMessage("user", "new"),)]), journal.over())


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b"[]",
        b"7",
        b"null",
        b'{"stream": "k"}',
        b'{"stream": "k", "items": [["Delta"]]}',
        b'{"stream": "k", "items": [["Delta", {"unknown": 1}]]}',
        b'{"stream": "k", "items": [["Finish", {"reason": "stop"}]]}',
        b'{"fact": "k"}',
        b"\xff\xfe\x00",
        '{"fact": "中'.encode()[:-1],
    ],
)
def test_a_line_that_is_no_whole_entry_is_passed_over(path: Path, line: bytes) -> None:
    run(asking(call("a")), Journal(path).over(ScriptedLLM("kept")))
    path.write_bytes(line + b"\n" + path.read_bytes() + line)
    journal = Journal(path)
    assert sum(map(len, journal.streams.values())) == 1
    assert run(asking(call("a"), call("b")), journal.over(ScriptedLLM("new"))) == ["kept", "new"]
    assert replay(asking(call("a"), call("b")), Journal(path)) == ["kept", "new"]


def test_a_journal_whose_file_is_not_there_yet_starts_empty(path: Path) -> None:
    assert Journal(path).streams == {}
    assert not path.exists()


def test_asynchronous_runs_write_the_file_without_blocking_the_loop(path: Path) -> None:
    llm = ScriptedLLM(["first", "second"])

    def asked() -> Program[list[str]]:
        yield from count(["some words"])
        return (yield from asking(call("a"), call("b")))

    async def main() -> list[str]:
        journal = Journal(path)
        await arun(asking(), journal.over(llm))  # the first thread of a loop is made here
        with blockbuster_ctx():
            return await arun(asked(), journal.over(llm), concurrency=2)

    assert asyncio.run(main()) == ["first", "second"]
    assert replay(asked(), Journal(path)) == ["first", "second"]


def test_threads_that_share_a_journal_write_whole_lines(path: Path) -> None:
    journal = Journal(path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: journal.keep_fact(f"{number}", "x" * 5000), range(64)))
    assert len(Journal(path).facts) == 64
