"""What answers cost: the tokens the server works for and the time, in each mode, beside the peer's."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import httpx2
from peer import PROGRAM, peer_python
from questions import Question, is_right

from responsa import NodeWithScore, TextNode, get_response_synthesizer
from responsa.llms.openai_like import OpenAILike
from responsa.local.llama_server import LlamaServer
from responsa.schema.calls import CallRecord
from responsa.schema.response import Response

MODES = ("compact", "refine", "accumulate", "tree_summarize")
WARM_UP = Question("", "What is the harbour library's opening hour?", (), ("The harbour library opens at nine.",))
# A server's figures by its own names: tokens read (not those from its cache), tokens written, seconds at each.
FIGURES = {
    "read": "llamacpp:prompt_tokens_total",
    "written": "llamacpp:tokens_predicted_total",
    "reading": "llamacpp:prompt_seconds_total",
    "writing": "llamacpp:tokens_predicted_seconds_total",
}


@dataclass(frozen=True, slots=True)
class Given:
    """An answer.

    Args:
        text: What it says.
        seconds: The time it took.
        calls: The calls it took.
        busy: The seconds the busiest slot worked for it; None where that is not known.
    """

    text: str
    seconds: float
    calls: int
    busy: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What one answer cost.

    Args:
        read: Prompt tokens the server read; those in its cache are not.
        written: Tokens it wrote.
        worked: The seconds it worked, over all slots.
    """

    mode: str
    side: str
    question: str
    right: bool
    given: Given
    read: int
    written: int
    worked: float


Answer = Callable[[Question], Given]
MAX_TOKENS = 256


def compare(
    model: Path, questions: Sequence[Question], *, modes: Sequence[str], slots: int, threads: int, window: int
) -> list[Cost]:
    """Answer every question in every mode on both sides; each side gets a server that has seen nothing before."""
    costs: list[Cost] = []
    for mode in modes:
        for side, answering in (("responsa", _ours), ("llama-index", _peers)):
            with (
                LlamaServer(model, context_window=window, slots=slots, threads=threads) as server,
                answering(server, mode, questions) as answer,
            ):
                answer(WARM_UP)
                costs += [_measured(server, mode, side, question, answer) for question in questions]
    return costs


def _measured(server: LlamaServer, mode: str, side: str, question: Question, answer: Answer) -> Cost:
    before = _figures(server)
    given = answer(question)
    spent = {name: figure - before[name] for name, figure in _figures(server).items()}
    return Cost(
        mode,
        side,
        question.id,
        is_right(given.text, question),
        given,
        round(spent["read"]),
        round(spent["written"]),
        spent["reading"] + spent["writing"],
    )


def _figures(server: LlamaServer) -> dict[str, float]:
    lines = httpx2.get(server.url.removesuffix("/v1") + "/metrics", trust_env=False, timeout=60.0).text.splitlines()
    told = dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))
    return {name: float(told[theirs]) for name, theirs in FIGURES.items()}


@contextmanager
def _ours(server: LlamaServer, mode: str, questions: Sequence[Question]) -> Iterator[Answer]:
    llm = OpenAILike(server.model, api_base=server.url, temperature=0.0, max_tokens=MAX_TOKENS)
    synthesizer = get_response_synthesizer(llm, response_mode=mode)
    slots = 1 if mode == "refine" else llm.metadata.slots  # its calls come one after another

    def answer(question: Question) -> Given:
        nodes = [NodeWithScore(TextNode(text), 1.0) for text in question.passages]
        begin = perf_counter()
        response = synthesizer.synthesize(question.text, nodes)
        seconds = perf_counter() - begin
        assert isinstance(response, Response)
        text = "\n".join(item.text for item in response.items) or response.text
        return Given(text, seconds, len(response.trace), _busiest(response.trace, slots))

    yield answer
    llm.close()


@contextmanager
def _peers(server: LlamaServer, mode: str, questions: Sequence[Question]) -> Iterator[Answer]:
    task = {
        "api_base": server.url,
        "model": server.model,
        "mode": mode,
        "context_window": _window(server),
        "max_tokens": MAX_TOKENS,
        "questions": [asdict(question) for question in (WARM_UP, *questions)],
    }
    with subprocess.Popen(
        [str(peer_python()), str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        pipe_in, pipe_out = process.stdin, process.stdout

        def say(line: str) -> None:
            pipe_in.write(line + "\n")
            pipe_in.flush()

        def answer(question: Question) -> Given:
            say(question.id)
            given = json.loads(pipe_out.readline())
            # It makes one call after another, so that one slot does all the work.
            return Given(given["text"], given["seconds"], given["calls"])

        say(json.dumps(task))
        yield answer
        pipe_in.close()


def _window(server: LlamaServer) -> int:
    llm = OpenAILike(server.model, api_base=server.url)
    window = llm.metadata.context_window
    llm.close()
    return window


def _busiest(trace: Sequence[CallRecord], slots: int) -> float:
    """Return the seconds of the slot that worked most, if each call took the slot that was free first."""
    busy = [0.0] * slots
    for record in trace:
        if record.completion is not None:
            times = record.completion.timings
            least = busy.index(min(busy))
            busy[least] += (times.server_prompt or 0.0) + (times.server_predicted or 0.0)
    return max(busy)


def table(costs: Sequence[Cost]) -> str:
    """Return the costs a question in columns, a line for each mode and side."""
    head = f"{'mode':16}{'side':13}{'right':>6}{'calls':>7}{'read':>8}{'written':>9}{'sum':>8}"
    lines = [f"{head}{'wall s':>9}{'wall/busy':>11}"]
    for mode in dict.fromkeys(cost.mode for cost in costs):
        for side in dict.fromkeys(cost.side for cost in costs):
            rows = [cost for cost in costs if (cost.mode, cost.side) == (mode, side)]
            count = len(rows)
            read, written = sum(row.read for row in rows) / count, sum(row.written for row in rows) / count
            wall = sum(row.given.seconds for row in rows)
            busy = sum(row.worked if row.given.busy is None else row.given.busy for row in rows)
            lines.append(
                f"{mode:16}{side:13}{sum(row.right for row in rows):>3}/{count:<2}"
                f"{sum(row.given.calls for row in rows) / count:>7.1f}{read:>8.0f}{written:>9.0f}{read + written:>8.0f}"
                f"{wall / count:>9.2f}{wall / busy:>11.3f}"
            )
    return "\n".join(lines)
