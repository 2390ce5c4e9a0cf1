"""What `responsa ask` shows of an answer."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence

import pytest
from tests.cli.memory_parts import MemoryParts, Run

from responsa.schema.completions import Delta, Sampling, StreamItem
from responsa.schema.errors import ServerTimeout, StreamInterrupted
from responsa.schema.messages import ChatMessage
from responsa.testing import ScriptedLLM

QUESTION = "How many books can a member borrow?"


def test_answer_and_sources_go_to_standard_output_and_the_plan_beside_them(responsa: Run) -> None:
    done = responsa("ask", QUESTION)
    assert done.code == 0
    answer, _, sources = done.out.partition("\nSources\n")
    assert answer == "A member can borrow up to eight books. [1*]\n"
    assert "[1] Harbor Library\n    /shelf/harbor.md, characters 0-39\n" in sources
    assert "“A member can borrow up to eight books.”" in sources
    assert "Found 3 passages from 3 documents, 1 call planned" in done.err


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("Eight books [1]. So it is.", "Eight books [1]. So it is."),
        ("A member can borrow up to eight books [1].", "A member can borrow up to eight books [1]."),
        (
            "A member can borrow up to eight books. The loan lasts three weeks.",
            "A member can borrow up to eight books. [1*] The loan lasts three weeks. [1*]",
        ),
        (
            "- A member can borrow up to eight books\n- The loan lasts three weeks",
            "- A member can borrow up to eight books [1*]\n- The loan lasts three weeks [1*]",
        ),
        ("会员最多可以借八本书。借期为三周。", "会员最多可以借八本书。[{zh}*]借期为三周。[{zh}*]"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--no-stream",)])
def test_attached_citations_stand_after_their_sentence_and_differ_from_the_models_own(
    responsa: Run, answer: str, shown: str, options: tuple[str, ...]
) -> None:
    done = responsa("ask", QUESTION, *options, parts=MemoryParts(ScriptedLLM(answer)))
    text, _, sources = done.out.partition("\nSources\n")
    number = next(line[1] for line in sources.splitlines() if "海港图书馆" in line)
    assert text == shown.replace("{zh}", number) + "\n"
    assert ("[n*]: not written by the model" in sources) == ("*]" in shown)


class WatchedLLM(ScriptedLLM):
    """Looks at what stands on the screen after each piece it has given."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__("Up to eight books")
        self.screen: list[str] = []
        self._capsys = capsys

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        for item in super().stream(messages, sampling):
            yield item
            self.screen.append(self._capsys.readouterr().out)


@pytest.mark.parametrize(("options", "first"), [((), "Up"), (("--no-stream",), "")])
def test_each_piece_is_shown_before_the_next_is_asked_for(
    responsa: Run, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], first: str
) -> None:
    llm = WatchedLLM(capsys)
    responsa("ask", QUESTION, *options, parts=MemoryParts(llm))
    assert llm.screen[0] == first
    assert len("".join(llm.screen)) == (0 if options else len("Up to eight books"))


def test_plan_asks_no_model(responsa: Run) -> None:
    llm = ScriptedLLM("never")
    done = responsa("ask", QUESTION, "--plan", "--mode", "refine", parts=MemoryParts(llm))
    assert done.code == 0
    assert llm.prompts == []
    rows = [line.split() for line in done.out.splitlines() if line.strip()[:1].isdigit()]
    assert [row[1] for row in rows] == ["answer", "refine", "refine", "calls"]


def test_trace_shows_every_call_that_was_made(responsa: Run) -> None:
    llm = ScriptedLLM(["First.", "Second.", "Third."])
    done = responsa("ask", QUESTION, "--trace", "--mode", "refine", parts=MemoryParts(llm))
    table = done.out.partition("\nCalls\n")[2].splitlines()
    assert table[0].split() == [
        "call",
        "stage",
        "prompt",
        "answer",
        "cached",
        *["first", "word", "s", "total", "s", "finish"],
    ]
    assert [(row.split()[1], row.split()[-1]) for row in table[1:]] == [
        ("answer", "stop"),
        ("refine", "stop"),
        ("refine", "stop"),
    ]


def test_only_the_final_answer_is_written_where_nobody_watches_the_drafts(responsa: Run) -> None:
    llm = ScriptedLLM(["First draft.", "Second draft.", "The final one."])
    done = responsa("ask", QUESTION, "--mode", "refine", parts=MemoryParts(llm))
    assert done.out.startswith("The final one.\n")
    assert "draft" not in done.out
    assert "Call 2 of 3: refine, passages 2" in done.err


def test_a_last_call_that_knows_nothing_leaves_the_answer_before(responsa: Run) -> None:
    llm = ScriptedLLM(["Up to eight books.", "I don't know.", "I don't know."])
    done = responsa("ask", QUESTION, "--mode", "refine", parts=MemoryParts(llm))
    assert done.out.partition("\nSources")[0].startswith("Up to eight books.")


def test_independent_answers_stand_under_their_passages(responsa: Run) -> None:
    llm = ScriptedLLM(lambda messages: "Yes." if "eight" in messages[-1].content else "No.")
    done = responsa("ask", QUESTION, "--mode", "accumulate", parts=MemoryParts(llm))
    assert "Answer 1, from passages 1\nYes.\n" in done.out
    assert "Answer 3, from passages 3\nNo.\n" in done.out


def test_the_question_may_come_from_standard_input(responsa: Run) -> None:
    llm = ScriptedLLM("Yes.")
    done = responsa("ask", "-", parts=MemoryParts(llm), stdin="会员最多可以借几本书？\n".encode())
    assert done.code == 0
    assert "会员最多可以借几本书？" in llm.prompts[0][-1].content


def test_options_reach_the_model_server(responsa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESPONSA_API_KEY", "k1")
    parts = MemoryParts()
    responsa("ask", QUESTION, "--api-base", "http://h:1/v1", "--model", "m", "--max-tokens", "7", parts=parts)
    assert (parts.chosen[0].api_base, parts.chosen[0].model, parts.chosen[0].api_key) == ("http://h:1/v1", "m", "k1")
    assert isinstance(parts.scripted, ScriptedLLM)
    assert parts.scripted.samplings[0].max_tokens == 7


def test_warnings_are_told_beside_the_answer(responsa: Run) -> None:
    done = responsa("ask", QUESTION, parts=MemoryParts(ScriptedLLM("Eight [9].")))
    assert "Warning: The answer cites [9]" in done.err
    assert "Warning" not in done.out


def test_no_text_of_a_model_or_document_can_steer_the_terminal(responsa: Run) -> None:
    documents = (("a.md", "Ti\x1b[31mtle", "A member can borrow eight \x1b]0;owned\x07books."),)
    parts = MemoryParts(ScriptedLLM("A member can borrow eight \x1b[2Jbooks.\u202e"), documents)
    done = responsa("ask", QUESTION, parts=parts)
    assert not {"\x1b", "\x07", "\u202e"} & set(done.out + done.err)


class BreakingLLM(ScriptedLLM):
    """Says something and then fails."""

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        yield Delta("Up to ei")
        raise ServerTimeout("http://h/v1", 5.0)


def test_what_arrived_before_the_server_died_stays_and_one_line_says_so(responsa: Run) -> None:
    done = responsa("ask", QUESTION, parts=MemoryParts(BreakingLLM()))
    assert done.code == 1
    assert done.out == "Up to ei\n"
    assert [line for line in done.err.splitlines() if line.startswith("Error")] == [
        "Error: " + StreamInterrupted("http://h/v1", "Up to ei", str(ServerTimeout("http://h/v1", 5.0))).render()
    ]


def test_json_holds_the_whole_response(responsa: Run) -> None:
    done = responsa("ask", QUESTION, "--json")
    document = json.loads(done.out)
    assert list(document) == [
        "question",
        "mode",
        "outcome",
        "text",
        "placeholder",
        "language",
        "grounded",
        "citations",
        "items",
        "sources",
        "coverage",
        "warnings",
        "usage",
        "trace",
        "plan",
    ]
    assert (document["outcome"], document["text"]) == ("answered", "A member can borrow up to eight books.")
    citation, source = document["citations"][0], document["sources"][0]
    assert (citation["number"], citation["origin"], source["number"]) == (1, "engine", 1)
    start, end = citation["quote"]
    assert source["text"][start:end] == citation["quoted"]
    assert document["trace"][0]["completion"]["finish_reason"] == "stop"
    assert document["trace"][0]["messages"][-1]["role"] == "user"
    assert document["plan"]["calls"][0]["prompt_tokens"] == document["trace"][0]["prompt_tokens"]
    assert document["usage"]["completion_tokens"] == document["trace"][0]["completion"]["usage"]["completion_tokens"]
    assert [row["shown"] for row in document["coverage"]] == ["whole"] * 3
    assert done.err == ""


def test_json_of_a_plan(responsa: Run) -> None:
    document = json.loads(responsa("ask", QUESTION, "--plan", "--json").out)
    assert list(document) == ["question", "plan", "sources"]
    assert document["plan"]["exact"] is True
    assert len(document["sources"]) == 3


def test_json_of_an_error(responsa: Run) -> None:
    done = responsa("ask", QUESTION, "--json", "--index", "missing")
    assert done.code == 1
    error = json.loads(done.out)["error"]
    assert (error["code"], error["details"]) == ("index_not_found", {"path": "missing"})
    assert error["message"] in done.err
