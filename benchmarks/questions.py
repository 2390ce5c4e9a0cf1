"""Questions with passages and known answers, from a file of JSON lines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

SAMPLE = Path(__file__).parent / "data" / "hotpotqa_10.jsonl"


@dataclass(frozen=True, slots=True)
class Question:
    """A question.

    Args:
        id: Its identity in the file.
        text: The question.
        answers: Every wording of the right answer.
        passages: What the answer is to be found in, each with its title in the first line.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    passages: tuple[str, ...]


def read_questions(path: Path, count: int) -> list[Question]:
    """Return the first questions of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()[:count]
    return [_question(json.loads(line)) for line in lines]


def is_right(answer: str, question: Question) -> bool:
    """Tell whether an answer holds one of the right wordings, apart from case, articles and punctuation."""
    told = f" {_plain(answer)} "
    return any(f" {_plain(right)} " in told for right in question.answers)


def _question(record: dict[str, object]) -> Question:
    passages = record["passages"]
    assert isinstance(passages, list)
    answers = record["answers"]
    assert isinstance(answers, list)
    texts = tuple(f"{passage['title']}\n{passage['text']}" for passage in passages)
    return Question(str(record["id"]), str(record["question"]), tuple(map(str, answers)), texts)


def _plain(text: str) -> str:
    words = re.sub(r"[^\w\s]", " ", text.casefold()).split()
    return " ".join(word for word in words if word not in ("a", "an", "the"))
