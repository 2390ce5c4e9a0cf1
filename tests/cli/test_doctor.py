"""Examining servers from the terminal."""

from __future__ import annotations

import json

import pytest
from tests.cli.memory_parts import Run
from tests.doctor import servers
from tests.doctor.servers import EMBEDDINGS, MODELS, Ticks, good_chat_server, vectors
from tests.faults import FaultServer


@pytest.fixture
def good(faults: FaultServer) -> FaultServer:
    """A chat server without fault, and an embedding server of a bag of words beside it."""
    clock = Ticks(enough=0)
    clock.reached.set()
    good_chat_server(faults, clock)
    return faults.on(EMBEDDINGS, vectors(1.0, 0.0))


def test_a_server_is_shown_row_by_row(responsa: Run, good: FaultServer) -> None:
    done = responsa("doctor", "--api-base", good.url, "--model", "m")
    lines = done.out.splitlines()
    assert lines[0] == f"Model server {good.url}"
    assert lines[-1] in ("0 faults, 0 warnings.", "0 faults, 1 warning.")  # the pace of a stream is a matter of luck
    assert "ok       model loaded" in done.out
    assert "Embedding server" not in done.out
    assert done.code == 0
    assert done.err.startswith("Examining http")


def test_under_a_fault_stands_what_to_do_and_the_exit_code_is_1(responsa: Run, good: FaultServer) -> None:
    done = responsa("doctor", "--api-base", good.url, "--context-window", "9999", "--model", "gpt-4")
    assert done.code == 1
    lines = done.out.splitlines()
    place = next(number for number, line in enumerate(lines) if "9999 tokens are configured, a slot has 4096" in line)
    assert lines[place].startswith("fault    window")
    assert lines[place + 1].lstrip().startswith("→ Set context_window to at most 4096")
    assert lines[-1].startswith("2 faults")


def test_a_dead_server_is_one_fault(responsa: Run) -> None:
    with FaultServer() as gone:
        url = gone.url
    done = responsa("doctor", "--api-base", url)
    assert done.code == 1
    assert done.out.splitlines()[-1] == "1 fault, 0 warnings."
    assert done.out.count("not checked") == 12


def test_it_speaks_chinese(responsa: Run, good: FaultServer) -> None:
    done = responsa("doctor", "--lang", "zh", "--api-base", good.url, "--model", "gpt-4")
    assert f"模型服务器 {good.url}" in done.out
    assert "不在所提供的 id 之中" in done.out
    assert "1 个故障" in done.out.splitlines()[-1]


def test_programs_get_json(responsa: Run, good: FaultServer) -> None:
    good.instead(MODELS, servers.models("m", "bag-of-words"))
    options = ("--embed-api-base", good.url, "--embed-model", "bag-of-words", "--query-prefix", "q: ")
    done = responsa("doctor", "--json", "--api-base", good.url, "--model", "m", *options)
    document = json.loads(done.out)
    assert [server["kind"] for server in document["servers"]] == ["chat", "embedding"]
    rows = {row["name"]: row for row in document["servers"][1]["findings"]}
    assert document["faults"] == 0
    assert rows["dimension"]["status"] == "ok"
    assert rows["dimension"]["values"] == {"dimensions": 2}
    assert rows["dimension"]["detail"] == "2; there is no index to compare with"
    texts = [one.json["input"][0] for one in good.requests(EMBEDDINGS)]
    assert texts[0] == f"q: {texts[1]}"


def test_an_index_of_other_vectors_says_rebuild(responsa: Run, good: FaultServer) -> None:
    options = ("--embed-api-base", good.url, "--index", "shelf")
    done = responsa("doctor", "--api-base", good.url, "--model", "m", *options)
    assert done.code == 1
    assert "rebuild the index" in done.out


def test_an_index_that_is_not_there_is_an_error(responsa: Run, good: FaultServer) -> None:
    done = responsa("doctor", "--api-base", good.url, "--embed-api-base", good.url, "--index", "missing")
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("Error: ")
    assert done.out == ""


def test_a_server_that_says_terminal_commands_moves_no_cursor(responsa: Run, good: FaultServer) -> None:
    good.instead(MODELS, servers.models("m\x1b[2J\nfake row"))
    done = responsa("doctor", "--api-base", good.url)
    assert "\x1b" not in done.out
    assert not [line for line in done.out.splitlines() if line.startswith("fake")]
