"""Passages, questions and vectors for the benchmarks: as much as is asked for, the same every time.

Real paragraphs of XQuAD with real questions stand among made ones. A made passage is sentences of other articles in
which four of ten words are replaced by words drawn from the whole corpus. A word that few articles have is mostly
replaced by a new one, put together from two: a large collection of text has far more words than a small one, and a name
that stands in one of fifty articles does not stand in two thousand of a hundred thousand.

Vectors are clustered by topic and document, with a falling spectrum and a common direction, as those of real embedding
models are.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import rjieba

REPLACED = 0.4
FEW_ARTICLES = 3
KEPT_RARE = 0.02


@dataclass(frozen=True)
class Question:
    """A question and the identity of the passage that answers it."""

    language: str
    text: str
    passage: str


@dataclass(frozen=True)
class Passage:
    """A passage of the corpus."""

    id: str
    language: str
    text: str


def load(n_passages: int, n_questions: int, seed: int = 1) -> tuple[list[Passage], list[Question]]:
    """Return passages, half of them Chinese, and questions, as many in each language."""
    chosen = random.Random(seed)
    passages: list[Passage] = []
    questions: list[Question] = []
    for language in ("en", "zh"):
        paragraphs = [one for one in _paragraphs() if one["language"] == language]
        titles = sorted({one["title"] for one in paragraphs})[::2]
        real = [one for one in paragraphs if one["title"] in titles]
        pool = [one for one in paragraphs if one["title"] not in titles]
        asked = [
            Question(language, question, f"{language}-real-{number}")
            for number, one in enumerate(real)
            for question in one["questions"]
        ]
        questions += chosen.sample(asked, min(n_questions, len(asked)))
        passages += [Passage(f"{language}-real-{number}", language, one["text"]) for number, one in enumerate(real)]
        made = _made(language, [one["text"] for one in pool], paragraphs, chosen)
        count = n_passages // 2 - len(real)
        passages += [Passage(f"{language}-{number}", language, text) for number, text in enumerate(islice(made, count))]
    chosen.shuffle(passages)
    return passages, questions


def _paragraphs() -> list[dict[str, Any]]:
    path = Path(__file__).parent / "data" / "xquad.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _made(language: str, pool: list[str], corpus: list[dict[str, Any]], chosen: random.Random) -> Iterator[str]:
    end = "。" if language == "zh" else ". "
    cut = rjieba.cut if language == "zh" else re.compile(r"\w+|\W+").findall
    sentences = [cut(sentence + end) for text in pool for sentence in text.split(end) if len(sentence) > 10]
    words = [word for one in corpus for word in cut(one["text"]) if word.isalnum()]
    articles: dict[str, set[str]] = defaultdict(set)
    for one in corpus:
        for word in cut(one["text"]):
            articles[word].add(one["title"])
    rare = [word for word in words if len(articles[word]) <= FEW_ARTICLES]

    def word_like(word: str) -> str:
        if len(articles[word]) > FEW_ARTICLES or chosen.random() < KEPT_RARE:
            return word
        start, end = chosen.choice(rare), chosen.choice(rare)
        return start[: (len(start) + 1) // 2] + end[len(end) // 2 :]

    while True:
        parts: list[str] = []
        for sentence in chosen.choices(sentences, k=4):
            parts += (
                word_like(chosen.choice(words)) if word.isalnum() and chosen.random() < REPLACED else word
                for word in sentence
            )
        yield "".join(parts).strip()


def vectors(count: int, dimensions: int = 384, seed: int = 1) -> Any:
    """Return unit vectors of documents of ten passages each, on two hundred topics."""
    import numpy as np

    random_numbers = np.random.default_rng(seed)
    spectrum = 1 / np.sqrt(np.arange(1, dimensions + 1))
    spectrum /= np.linalg.norm(spectrum)
    turned = np.linalg.qr(random_numbers.normal(size=(dimensions, dimensions)))[0]
    common = random_numbers.normal(size=dimensions)
    common /= np.linalg.norm(common)
    topics = random_numbers.normal(size=(200, dimensions)) * spectrum
    n_documents = count // 10 + 1
    documents = 0.35 * topics[random_numbers.integers(0, 200, n_documents)]
    documents += 0.3 * random_numbers.normal(size=(n_documents, dimensions)) * spectrum
    own = 0.3 * random_numbers.normal(size=(count, dimensions)) * spectrum
    found = (documents[np.arange(count) // 10] + own) @ turned.T + 0.9 * common
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def near(stored: Any, count: int, seed: int = 2) -> Any:
    """Return vectors of questions: each near one of the stored vectors."""
    import numpy as np

    random_numbers = np.random.default_rng(seed)
    dimensions = stored.shape[1]
    chosen = stored[random_numbers.integers(0, len(stored), count)]
    found = chosen + 0.15 / np.sqrt(dimensions) * random_numbers.normal(size=(count, dimensions))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
