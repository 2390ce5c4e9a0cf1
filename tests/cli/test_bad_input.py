"""Whatever is wrong gives one line that a person can act on, and an exit code; never a stack trace."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.memory_parts import MemoryParts, Run

from responsa.cli.parts import Parts
from responsa.schema import errors
from responsa.schema.errors import ResponsaError
from responsa.testing import ScriptedLLM

QUESTION = "How many books?"


def parts_that_fail(where: str, error: BaseException) -> Parts:
    """Return parts whose `where` raises `error`."""

    def fail(*_: Any, **__: Any) -> Any:
        raise error

    parts = MemoryParts()
    setattr(parts, where, fail)
    return parts


def one_line(text: str, prefix: str) -> str:
    """Return the only line of `text` that begins with `prefix`."""
    (line,) = [line for line in text.splitlines() if line.startswith(prefix)]
    return line


RUN_ERRORS: list[tuple[str, ResponsaError, str]] = [
    ("llm", errors.ServerUnreachable("http://127.0.0.1:8080/v1", "refused"), "responsa llama-server"),
    ("llm", errors.AuthenticationFailed("http://h/v1"), "api_key"),
    ("llm", errors.ModelNotFound("http://h/v1", "a", ("b", "c")), "b, c"),
    ("llm", errors.BadResponse("http://h/v1", "no JSON"), "OpenAI"),
    ("open_index", errors.IndexNotFound("shelf"), "responsa ingest PATH --index shelf"),
    ("open_index", errors.IndexDamaged("shelf", "half"), "half"),
    ("open_index", errors.IndexVersionMismatch("shelf", "0", "1"), "1"),
    ("open_index", errors.EmbeddingMismatch("shelf", "one", 3, "two", 4), "one"),
    ("open_index", errors.EmbeddingFailed("broken"), "broken"),
]


@pytest.mark.parametrize(("where", "error", "says"), RUN_ERRORS)
@pytest.mark.parametrize(("language", "prefix"), [("en", "Error: "), ("zh", "错误：")])
def test_a_failure_is_one_line_in_the_language_spoken(
    responsa: Run, where: str, error: ResponsaError, says: str, language: str, prefix: str
) -> None:
    done = responsa("ask", QUESTION, "--lang", language, parts=parts_that_fail(where, error))
    assert done.code == 1
    line = one_line(done.err, prefix)
    assert line == prefix + error.render(language)
    assert says in line
    assert done.out == ""


@pytest.mark.parametrize(
    "error",
    [
        errors.IndexLocked("shelf"),
        errors.IndexNotWritable("shelf", "read-only file system"),
        errors.EmbeddingMismatch("shelf", "one", 3, "two", 4),
    ],
)
def test_an_index_that_cannot_be_filled_is_one_line(responsa: Run, tmp_path: Path, error: ResponsaError) -> None:
    (tmp_path / "a.md").write_text("text")
    done = responsa("ingest", "a.md", parts=parts_that_fail("index_to_fill", error))
    assert (done.code, done.err) == (1, f"Error: {error.render()}\n")


@pytest.mark.parametrize("command", ["ask", "search"])
def test_an_empty_index_says_how_to_fill_it(responsa: Run, command: str) -> None:
    done = responsa(command, QUESTION, "--index", "empty")
    assert done.code == 1
    assert "responsa ingest PATH --index empty" in one_line(done.err, "Error: ")


def test_an_index_of_a_model_behind_a_server_asks_for_the_server(responsa: Run) -> None:
    class Served(MemoryParts):
        def open_index(self, path: Path, embedder: Any) -> Any:
            index = super().open_index(path, embedder)
            index._embed_model = None
            return index

    done = responsa("ask", QUESTION, parts=Served())
    assert done.code == 1
    assert "--embed-api-base" in one_line(done.err, "Error: ")
    assert responsa("search", QUESTION, "--by", "words", parts=Served()).code == 0


@pytest.mark.parametrize(
    ("question", "code"), [("", "empty_question"), (" \n\t", "empty_question"), ("long", "question_too_long")]
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_question_that_is_none_is_refused_before_anything_is_asked(
    responsa: Run, question: str, code: str, language: str
) -> None:
    parts = MemoryParts()
    stdin = b"a" * 1_000_000 if question == "long" else question.encode()
    done = responsa("--lang", language, "ask", "-", parts=parts, stdin=stdin)
    assert done.code == 2
    error = errors.EmptyQuestion() if code == "empty_question" else errors.QuestionTooLong(1_000_000, 32_000)
    assert one_line(done.err, "Error" if language == "en" else "错误").endswith(error.render(language))
    assert parts.chosen == []


def test_a_window_too_small_shows_its_numbers(responsa: Run) -> None:
    done = responsa("ask", QUESTION, parts=MemoryParts(ScriptedLLM("x", context_window=60)))
    assert done.code == 2
    assert "60 tokens" in one_line(done.err, "Error: ")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("ask",), {"en": "QUESTION is missing", "zh": "缺少 QUESTION"}),
        (("ask", "q", "--topk", "3"), {"en": "no option --topk", "zh": "没有选项 --topk"}),
        (("ask", "q", "--top-k", "0"), {"en": "--top-k", "zh": "--top-k"}),
        (("ask", "q", "--top-k", "x"), {"en": "--top-k", "zh": "--top-k"}),
        (("ask", "q", "--mode", "best"), {"en": "tree_summarize", "zh": "tree_summarize"}),
        (("search", "q", "--by", "luck"), {"en": "hybrid", "zh": "hybrid"}),
        (("ingest", "nowhere"), {"en": "nowhere", "zh": "nowhere"}),
        (("ingest",), {"en": "PATH is missing", "zh": "缺少 PATH"}),
        (("frob",), {"en": "no command frob.", "zh": "没有命令 frob。"}),
        (("serch",), {"en": "serch. Did you mean search", "zh": "serch。是否想用 search"}),
        (("keys", "lst"), {"en": "lst. Did you mean list?", "zh": "lst。是否想用 list？"}),
        (("models", "fetch", "gpt"), {"en": "smollm2-135m", "zh": "smollm2-135m"}),
        (("llama-server", "m.gguf", "--port", "70000"), {"en": "--port", "zh": "--port"}),
        (("demo", "--demo-model", "7b"), {"en": "0.5b", "zh": "0.5b"}),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_wrong_use_exits_with_2_and_names_what_is_wrong(
    responsa: Run, words: tuple[str, ...], says: dict[str, str], language: str
) -> None:
    done = responsa(*words, "--lang", language)
    assert done.code == 2
    assert says[language] in one_line(done.err, {"en": "Error: ", "zh": "错误："}[language])
    assert done.out == ""


def test_an_unknown_language_is_refused(responsa: Run) -> None:
    done = responsa("--lang", "fr", "ask", "q")
    assert (done.code, done.err) == (2, "Error: --lang cannot be fr: expected en or zh.\n")


@pytest.mark.parametrize(
    ("raised", "code", "says"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/disk/file"), 1, "Error: /disk/file: No space left"),
        (PermissionError(errno.EACCES, "Permission denied", "/root/x"), 1, "Error: /root/x: Permission denied"),
        (KeyboardInterrupt(), 130, "Interrupted."),
    ],
)
def test_the_systems_own_failures_and_ctrl_c_are_one_line(
    responsa: Run, raised: BaseException, code: int, says: str
) -> None:
    done = responsa("ask", QUESTION, parts=parts_that_fail("llm", raised))
    assert done.code == code
    assert says in done.err
    assert "Traceback" not in done.err


def test_ctrl_c_in_mid_answer_ends_the_line_and_closes_the_request(responsa: Run) -> None:
    llm = ScriptedLLM("Up to eight books.")
    stream: Callable[..., Any] = llm.stream

    def interrupted(*given: Any) -> Any:
        items = stream(*given)
        yield next(items)
        items.close()
        raise KeyboardInterrupt

    llm.stream = interrupted  # type: ignore[method-assign]
    done = responsa("ask", QUESTION, parts=MemoryParts(llm))
    assert (done.code, done.out) == (130, "Up\n")
    assert llm.under_way == 0


def test_without_the_programs_own_packages_one_line_says_what_to_install(
    responsa: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from responsa.cli import entry

    monkeypatch.setattr(entry, "find_spec", lambda name: None if name == "typer" else object())
    done = responsa("--help")
    assert (done.code, done.out) == (2, "")
    assert "pip install 'responsa[local]'" in done.err
