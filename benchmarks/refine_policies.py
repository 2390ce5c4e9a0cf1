"""How often a refined answer is right: with the peer's templates, by rewriting, by deciding.

The records are lines of JSON with `question`, `answers`, and `docs` (each with `title` and `sentences` or `text`) or
`passages`. Every answer of the model is kept in a journal, so that a run that was broken off goes on where it stopped.

Run: python benchmarks/refine_policies.py [RECORDS] [--limit 50] [--passages 10] [--model NAME] [--journal FILE]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from peer import peer_python
from questions import SAMPLE, Question, is_right

from responsa import ChatPromptTemplate, NodeWithScore, TextNode
from responsa.grounding import find_markers, without_markers
from responsa.llms.openai_like import OpenAILike
from responsa.local.llama_server import LlamaServer
from responsa.local.models import fetch, models_dir
from responsa.programs import Journal
from responsa.response_synthesizers import Refine
from responsa.schema.protocols import LLM
from responsa.schema.response import Response

PEER_TEMPLATES: Final = Path(__file__).with_name("synthesis_programs") / "peer_templates.py"
POLICIES: Final = ("peer", "rewrite", "decide")


@dataclass(frozen=True, slots=True)
class Score:
    """How one answer did.

    Args:
        right: Whether it holds one of the right wordings.
        exact: Whether it is one of them and nothing else.
        f1: The words it shares with the nearest of them, from 0 to 1.
        refused: Whether the model said that it does not know.
        calls: The calls it took.
        words: Its length.
    """

    right: bool
    exact: bool
    f1: float
    refused: bool
    calls: int
    words: int


def read_records(path: Path, limit: int, passages: int) -> list[Question]:
    """Return the first records of a file, each with at most so many passages."""
    lines = path.read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines[:limit]]
    return [
        Question(str(one["id"]), one["question"], tuple(one["answers"]), tuple(map(_passage, _chosen(one, passages))))
        for one in records
    ]


def _chosen(record: dict[str, Any], passages: int) -> list[dict[str, Any]]:
    """Return those that prove the answer and the first of the others, in the record's order."""
    documents: list[dict[str, Any]] = record.get("docs") or record["passages"]
    others = [one for one in documents if not one.get("supporting")]
    left_out = others[max(0, passages - (len(documents) - len(others))) :]
    return [one for one in documents if not any(one is other for other in left_out)]


def _passage(record: dict[str, Any]) -> str:
    text = record["text"] if "text" in record else "".join(record["sentences"])
    return f"{record['title']}\n{text}"


def plain_words(text: str) -> list[str]:
    """Return the words that count: without case, articles and punctuation."""
    words = re.sub(r"[^\w\s]", " ", text.casefold()).split()
    return [word for word in words if word not in ("a", "an", "the")]


def f1(answer: str, right: str) -> float:
    """Return the harmonic mean of how many of the answer's words are right and how many right words it has."""
    told, wanted = Counter(plain_words(answer)), Counter(plain_words(right))
    shared = sum((told & wanted).values())
    return 2 * shared / (sum(told.values()) + sum(wanted.values())) if shared else 0.0


def score(response: Response, question: Question) -> Score:
    """Score an answer, its markers left aside."""
    text = without_markers(response.text, find_markers(response.text))
    return Score(
        is_right(text, question),
        any(plain_words(text) == plain_words(right) for right in question.answers),
        max(f1(text, right) for right in question.answers),
        response.refused,
        len(response.trace),
        len(text.split()),
    )


def peer_templates() -> dict[str, ChatPromptTemplate]:
    """Return the peer's templates as they stand in its package."""
    done = subprocess.run([str(peer_python()), str(PEER_TEMPLATES)], capture_output=True, text=True, check=True)
    told: dict[str, list[tuple[str, str]]] = json.loads(done.stdout.splitlines()[-1])
    return {
        name: ChatPromptTemplate.from_messages([(role, text) for role, text in messages])
        for name, messages in told.items()
    }


def synthesizer_of(policy: str, llm: LLM) -> Refine:
    """Return what makes a policy's answers."""
    if policy == "peer":
        templates = peer_templates()
        return Refine(llm, text_qa_template=templates["text_qa_template"], refine_template=templates["refine_template"])
    return Refine(llm, refine_policy="decide" if policy == "decide" else "rewrite")


@contextmanager
def served(name: str, window: int, threads: int | None) -> Iterator[OpenAILike]:
    """Serve a packaged model while the block runs."""
    with LlamaServer(fetch(name), context_window=window, threads=threads) as server:
        llm = OpenAILike(server.model, api_base=server.url, temperature=0.0, seed=1)
        try:
            yield llm
        finally:
            llm.close()


def measure(
    llm: LLM, questions: Sequence[Question], policies: Sequence[str], max_tokens: int
) -> dict[str, list[Score]]:
    """Answer every question by every policy; a run that is broken off has compared them on the same questions."""
    synthesizers = {policy: synthesizer_of(policy, llm) for policy in policies}
    scores: dict[str, list[Score]] = {policy: [] for policy in policies}
    for number, question in enumerate(questions, 1):
        nodes = [NodeWithScore(TextNode(text, id_=str(n)), 1.0) for n, text in enumerate(question.passages)]
        for policy, synthesizer in synthesizers.items():
            begin = time.monotonic()
            response = synthesizer.synthesize(question.text, nodes, llm_kwargs={"max_tokens": max_tokens})
            assert isinstance(response, Response)
            one = score(response, question)
            scores[policy].append(one)
            print(
                f"{number}/{len(questions)} {policy} {time.monotonic() - begin:.0f} s "
                f"{'right' if one.right else 'wrong'}: {response.text[:80]!r}",
                file=sys.stderr,
            )
    return scores


def table(scores: dict[str, list[Score]]) -> str:
    """Return the policies' scores as a Markdown table."""
    lines = [("policy", "records", "right", "exact", "F1", "refused", "calls", "words"), ("---",) * 8]
    for policy, taken in scores.items():
        count = max(len(taken), 1)
        lines.append(
            (
                policy,
                str(len(taken)),
                str(sum(one.right for one in taken)),
                str(sum(one.exact for one in taken)),
                f"{sum(one.f1 for one in taken) / count:.3f}",
                str(sum(one.refused for one in taken)),
                f"{sum(one.calls for one in taken) / count:.1f}",
                f"{sum(one.words for one in taken) / count:.1f}",
            )
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Measure the policies and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("records", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--passages", type=int, default=10, help="for each record")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    parser.add_argument("--window", type=int, default=4096)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=POLICIES)
    parser.add_argument("--journal", type=Path, help="default: a file for this model and window in the cache")
    options = parser.parse_args()
    questions = read_records(options.records, options.limit, options.passages)
    kept = models_dir().parent / "benchmarks" / f"refine_policies-{options.model}-{options.window}.jsonl"
    journal = options.journal or kept
    journal.parent.mkdir(parents=True, exist_ok=True)
    with served(options.model, options.window, options.threads) as llm:
        journaled = Journal(journal).over(llm)
        scores = measure(journaled, questions, options.policies, options.max_tokens)
    print(table(scores))


if __name__ == "__main__":
    main()
