"""How well a small model rewrites follow-up questions: `make eval`, or `python evals/rewriting.py --model 0.5b`.

It asks a real model on this machine the rewrite of every case, through the same program as a chat engine, and prints a
report. It passes or fails nothing.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rewrite_metrics import best_recall, keeps_all, mean

from responsa.chat_engine.rewriting import Rewriter
from responsa.llms.openai_like import OpenAILike
from responsa.local.llama_server import LlamaServer
from responsa.local.models import fetch
from responsa.programs import stream
from responsa.prompts import default_prompts, detect_language
from responsa.schema.events import Done, StepFinished, WarningRaised
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM

DATA: Final = Path(__file__).parent / "data"
SETS: Final = {"en": ("CANARD, English", "canard.jsonl"), "zh": ("pronouns, Chinese", "pronouns_zh.jsonl")}
MODELS: Final = {"1.5b": "qwen2.5-coder-1.5b", "0.5b": "qwen2.5-coder-0.5b", "smollm2": "smollm2-135m"}
CONTEXT_WINDOW: Final = 2048


@dataclass(frozen=True)
class Case:
    """A question in its conversation, and how people rewrite it."""

    id: str
    history: tuple[ChatMessage, ...]
    question: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What became of a case.

    Args:
        case: The case.
        written: What the model wrote.
        used: What would be searched with: the rewrite, or the question itself after a fallback.
        fault: Why the rewrite was not used; empty if it was.
        seconds: How long it took.
    """

    case: Case
    written: str
    used: str
    fault: str
    seconds: float


def cases(name: str, limit: int | None = None) -> list[Case]:
    """Return the cases of a file, the first `limit` of them."""
    rows = [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
    return [
        Case(
            row["id"],
            tuple(ChatMessage(said["role"], said["text"]) for said in row["history"]),
            row["question"],
            tuple(row["rewrites"]),
        )
        for row in rows[:limit]
    ]


def rewritten(case: Case, llm: LLM) -> Result:
    """Rewrite a case's question as a chat engine does."""
    began = time.perf_counter()
    written, used, fault = "", case.question, ""
    rewriter = Rewriter(default_prompts(detect_language(case.question)), llm=llm)
    for event in stream(rewriter.rewrite(case.question, case.history), llm):
        match event:
            case StepFinished(completion=completion) if completion is not None:
                written = completion.text.strip()
            case WarningRaised(notice):
                fault = str(notice.details["reason"])
            case Done(response):
                used = response
    return Result(case, written, used, fault, time.perf_counter() - began)


def report(name: str, results: Sequence[Result]) -> str:
    """Return the figures of a set of cases as lines of text."""
    rows = [
        ("cases", str(len(results))),
        ("ROUGE-1 recall, searched with", _figure([best_recall(r.used, r.case.references) for r in results])),
        ("ROUGE-1 recall, what the model wrote", _figure([best_recall(r.written, r.case.references) for r in results])),
        (
            "ROUGE-1 recall, the question as it was",
            _figure([best_recall(r.case.question, r.case.references) for r in results]),
        ),
        ("fallbacks to the user's own words", _share([bool(r.fault) for r in results])),
        ("the model kept all that the user typed", _share([keeps_all(r.written, r.case.question) for r in results])),
        ("searched with all that the user typed", _share([keeps_all(r.used, r.case.question) for r in results])),
        ("searched with all that the human names", _share([_names_all(r.used, r.case) for r in results])),
        ("the question as it was names all that", _share([_names_all(r.case.question, r.case) for r in results])),
        ("seconds a rewrite, mean", f"{mean([r.seconds for r in results]):.1f}"),
    ]
    lines = [name, *(f"  {label:<42}{figure:>12}" for label, figure in rows)]
    faults = Counter(_kind(r.fault) for r in results if r.fault)
    lines += [f"  fallback: {kind:<32}{count:>12}" for kind, count in faults.most_common()]
    return "\n".join(lines)


def _names_all(text: str, case: Case) -> bool:
    return any(keeps_all(text, reference) for reference in case.references)


def _figure(values: Sequence[float]) -> str:
    return f"{mean(values):.3f}"


def _share(values: Sequence[bool]) -> str:
    return f"{100 * mean([float(value) for value in values]):.0f} %"


def _kind(fault: str) -> str:
    """Return a fault without what it names, so that like ones are counted together."""
    return "it lost a number or a name" if fault.startswith("it lost ") else fault


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="1.5b", help="the packaged model to serve")
    parser.add_argument("--api-base", help="a server that runs, in place of one started here")
    parser.add_argument("--language", choices=SETS, action="append", help="the cases to rewrite; all if not given")
    parser.add_argument("--limit", type=int, help="the most cases of a set")
    parser.add_argument("--show", action="store_true", help="show every rewrite")
    options = parser.parse_args()
    with ExitStack() as stack:
        if options.api_base is None:
            server = stack.enter_context(LlamaServer(fetch(MODELS[options.model]), context_window=CONTEXT_WINDOW))
            llm = OpenAILike(server.model, api_base=server.url)
        else:
            llm = OpenAILike(api_base=options.api_base)
        stack.callback(llm.close)
        print(f"Rewriting with {llm.metadata.model_name}")
        for name, file in (SETS[language] for language in options.language or SETS):
            results = []
            for case in cases(file, options.limit):
                results.append(rewritten(case, llm))
                if options.show:
                    last = results[-1]
                    print(f"{case.id}  {case.question}\n  {last.written!r}\n  {last.fault or 'used'}", flush=True)
            print(report(name, results), flush=True)


if __name__ == "__main__":
    main()
