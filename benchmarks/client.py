"""What the client of a model server costs, beside its peer's, on a real server.

    python benchmarks/client.py tokens       tokens and time of an answer in each mode, beside LlamaIndex
    python benchmarks/client.py first-token  from the server's first token to the reader's
    python benchmarks/client.py streams      a thousand streams at once

Counts of tokens do not depend on the machine's load; times do.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import client_stream
from answers import MODES, compare, table
from first_token import first_tokens
from questions import SAMPLE, read_questions

from responsa.local.models import fetch


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("tokens", "first-token", "streams"))
    parser.add_argument("--records", type=Path, default=SAMPLE, help="a file of questions with passages")
    parser.add_argument("--questions", type=int, default=10, help="how many of them")
    parser.add_argument("--model", default="qwen2.5-coder-0.5b", help="a packaged model, or a GGUF file")
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=MODES, help="the modes compared")
    parser.add_argument("--slots", type=int, default=2, help="requests the server works on at a time")
    parser.add_argument("--threads", type=int, default=1, help="threads of the server")
    parser.add_argument("--window", type=int, default=4096, help="tokens a slot")
    parser.add_argument("--streams", type=int, default=1000, help="streams read at once")
    parser.add_argument("--json", action="store_true", help="print every figure")
    chosen = parser.parse_args()
    if chosen.part == "streams":
        print(json.dumps(client_stream.many_streams(chosen.streams)))
        return
    model = Path(chosen.model) if chosen.model.endswith(".gguf") else fetch(chosen.model)
    questions = read_questions(chosen.records, chosen.questions)
    server = {"slots": chosen.slots, "threads": chosen.threads, "window": chosen.window}
    if chosen.part == "first-token":
        print(json.dumps(first_tokens(model, questions, **server)))
        return
    costs = compare(model, questions, modes=chosen.modes, **server)
    print(json.dumps([asdict(cost) for cost in costs], ensure_ascii=False) if chosen.json else table(costs))


if __name__ == "__main__":
    main()
