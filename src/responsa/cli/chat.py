"""`responsa chat`: a conversation in the terminal, kept on disk."""

from __future__ import annotations

import secrets
import shlex
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Context, Option

from .options import (
    DEFAULT_API_BASE,
    DEFAULT_INDEX,
    DEFAULT_TOP_K,
    ApiBase,
    ApiKey,
    EmbedApiBase,
    EmbedApiKey,
    EmbedModel,
    IndexDir,
    Model,
    ServerChoice,
    TopK,
    server_choice,
)

if TYPE_CHECKING:
    from responsa.indices import VectorStoreIndex

    from .chat_lines import Lines
    from .chat_session import ChatSession
    from .terminal import Terminal


def chat(
    context: Context,
    session: Annotated[
        str | None,
        Option("--session", help="The conversation's name: one to go on with, or a new one; a new one if not given."),
    ] = None,
    listed: Annotated[bool, Option("--list", help="List the conversations that are kept.")] = False,
    store: Annotated[
        str | None,
        Option(
            "--store",
            envvar="RESPONSA_CHATS",
            help="Where conversations are kept: a file of JSON lines, an SQLite file (.db) or a postgresql:// address; "
            "responsa/chats.jsonl among the user's data if not given.",
        ),
    ] = None,
    index: IndexDir = DEFAULT_INDEX,
    mode: Annotated[
        str | None,
        Option(
            "--mode",
            help="How messages are answered: best, simple, context, condense_question or condense_plus_context; "
            "best if not given, simple where there is no index.",
        ),
    ] = None,
    top_k: TopK = DEFAULT_TOP_K,
    max_tokens: Annotated[int | None, Option("--max-tokens", min=1, help="The most tokens an answer may have.")] = None,
    system: Annotated[str | None, Option("--system", help="An instruction that stands before everything.")] = None,
    api_base: ApiBase = DEFAULT_API_BASE,
    model: Model = None,
    api_key: ApiKey = None,
    embed_api_base: EmbedApiBase = None,
    embed_model: EmbedModel = None,
    embed_api_key: EmbedApiKey = None,
) -> int:
    """Talk about the indexed documents, or with the model alone."""
    from responsa.chat_engine import ChatMode
    from responsa.chat_engine.types import chat_mode
    from responsa.memory import Memory

    from .chat_lines import lines_of
    from .chat_session import ChatSession
    from .chat_stores import list_sessions, opened
    from .interrupts import interrupted_by_signals

    terminal: Terminal = context.obj
    chosen = chat_mode(mode) if mode is not None else None
    with ExitStack() as stack:
        kept = opened(store, stack)
        if listed:
            return list_sessions(kept, terminal)
        llm = terminal.parts.llm(ServerChoice(api_base, model, api_key))
        _ = llm.metadata  # a server that is not there is told before anything is asked

        def open_index() -> VectorStoreIndex:
            return terminal.parts.index_to_search(index, server_choice(embed_api_base, embed_model, embed_api_key))

        without_index = chosen is None and index == DEFAULT_INDEX and not terminal.parts.has_index(index)
        talk = ChatSession(
            terminal,
            llm,
            Memory(session or _new_name(), chat_store=kept, llm=llm),
            open_index,
            top_k=top_k,
            system_prompt=system,
            llm_kwargs={} if max_tokens is None else {"max_tokens": max_tokens},
        )
        talk.use(ChatMode.SIMPLE if without_index else chosen or ChatMode.BEST)
        _greet(talk, index, terminal, without_index=without_index)
        with interrupted_by_signals():
            return _talk(talk, stack.enter_context(lines_of(sys.stdin, terminal)), terminal)


def _talk(talk: ChatSession, lines: Lines, terminal: Terminal) -> int:
    """Answer line by line until the end; return the exit code."""
    from .chat_commands import Commands

    commands = Commands(talk, terminal)
    failed = False
    while not commands.ended and (line := lines.next()) is not None:
        if line.strip():
            done = commands.run(line) if commands.knows(line) else talk.answer(line, stoppable=lines.interactive)
            failed = failed or not done
    if talk.memory.chat_store.get_session(talk.name) is not None:
        terminal.note("chat_kept", name=shlex.quote(talk.name))
    return int(failed and not lines.interactive)


def _greet(talk: ChatSession, index: Path, terminal: Terminal, *, without_index: bool) -> None:
    messages = len(talk.memory.recover())
    terminal.note("chat_goes_on" if messages else "chat_new", name=talk.name, messages=messages)
    if without_index:
        terminal.note("chat_no_index")
    else:
        terminal.note("chat_with_index" if talk.searches else "chat_without_index", mode=talk.mode.value, path=index)
    terminal.note("chat_how")


def _new_name() -> str:
    """Return a name that can be typed, and that no other conversation has."""
    return f"{time.strftime('%Y%m%d-%H%M')}-{secrets.token_hex(3)}"
