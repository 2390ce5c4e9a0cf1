"""`responsa ask`: an answer from the indexed documents."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Argument, Context, Option

from .options import (
    DEFAULT_API_BASE,
    DEFAULT_INDEX,
    DEFAULT_TOP_K,
    ApiBase,
    ApiKey,
    AsJson,
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
    from responsa.query_engine import RetrieverQueryEngine

    from .terminal import Terminal

# What is read of a question from standard input, in bytes: enough to see that it is too long.
MAX_STDIN_BYTES: Final = 8_000_000


def ask(
    context: Context,
    question: Annotated[str, Argument(metavar="QUESTION", help="The question; - reads it from standard input.")],
    index: IndexDir = DEFAULT_INDEX,
    mode: Annotated[
        str,
        Option(
            "--mode",
            help="How the answer is made: compact, refine, tree_summarize, simple_summarize, accumulate, "
            "compact_accumulate, generation, context_only or no_text.",
        ),
    ] = "compact",
    top_k: TopK = DEFAULT_TOP_K,
    max_tokens: Annotated[int | None, Option("--max-tokens", min=1, help="The most tokens a call may write.")] = None,
    plan: Annotated[bool, Option("--plan", help="Show the calls that would be made; ask no model.")] = False,
    trace: Annotated[bool, Option("--trace", help="Show a table of the calls that were made.")] = False,
    as_json: AsJson = False,
    no_stream: Annotated[bool, Option("--no-stream", help="Show the answer when it is whole.")] = False,
    api_base: ApiBase = DEFAULT_API_BASE,
    model: Model = None,
    api_key: ApiKey = None,
    embed_api_base: EmbedApiBase = None,
    embed_model: EmbedModel = None,
    embed_api_key: EmbedApiKey = None,
) -> int:
    """Answer a question, with citations."""
    from responsa.query_engine import RetrieverQueryEngine
    from responsa.response_synthesizers import get_response_synthesizer
    from responsa.response_synthesizers.question import checked_question

    terminal: Terminal = context.obj
    terminal.as_json = as_json
    text = checked_question(_question(question))
    llm = terminal.parts.llm(ServerChoice(api_base, model, api_key))
    synthesizer = get_response_synthesizer(llm, response_mode=mode)
    passages = terminal.parts.index_to_search(index, server_choice(embed_api_base, embed_model, embed_api_key))
    if synthesizer.needs_llm:
        _ = llm.metadata  # a server that is not there is told before anything is searched
    engine = RetrieverQueryEngine(passages.as_retriever(top_k), synthesizer)
    llm_kwargs = {} if max_tokens is None else {"max_tokens": max_tokens}
    if plan:
        return _show_plan(engine, text, llm_kwargs, terminal)
    return _answer(engine, text, llm_kwargs, terminal, trace=trace, stream=not no_stream)


def _question(given: str) -> str:
    if given != "-":
        return given
    return sys.stdin.buffer.read(MAX_STDIN_BYTES).decode("utf-8", "replace")


def _show_plan(engine: RetrieverQueryEngine, question: str, llm_kwargs: dict[str, Any], terminal: Terminal) -> int:
    from . import json_view
    from .plan_view import write_plan

    nodes = engine.retrieve(question)
    plan = engine.synthesizer.plan(question, nodes, llm_kwargs=llm_kwargs)
    if terminal.as_json:
        json_view.write({"question": question, "plan": json_view.plan(plan), "sources": json_view.sources(nodes)})
    else:
        write_plan(plan, nodes, terminal)
    return 0


def _answer(
    engine: RetrieverQueryEngine,
    question: str,
    llm_kwargs: dict[str, Any],
    terminal: Terminal,
    *,
    trace: bool,
    stream: bool,
) -> int:
    from .answer_view import AnswerView
    from .json_view import JsonView

    view: AnswerView | JsonView
    if terminal.as_json:
        view = JsonView(question, engine.synthesizer.mode, terminal.language)
    else:
        view = AnswerView(terminal, stream=stream, trace=trace)
    with closing(engine.stream_events(question, llm_kwargs=llm_kwargs)) as events:
        try:
            for event in events:
                view.show(event)
        finally:
            view.close()
    return 0
