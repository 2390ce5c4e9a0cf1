"""Knowledge entries in a prompt: fenced JSON with the fields a model needs, whole or cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from responsa import get_response_synthesizer
from responsa.packing.passages import Passage, Piece, passages_of
from responsa.retrieval.readers import SimpleDirectoryReader
from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.testing import ScriptedLLM

ENTRY = {
    "question": "Which oil does the X200 need?",
    "answer": "ISO VG 46.",
    "full_answer": 'Only "ISO VG 46".\nNever """VG 68""".',
    "summary": "Oil of the pumps",
    "url": "https://docs.example/oil",
    "title": "Pumps",
    "category": "Maintenance",
    "date": "2024-05-01",
}


def read_entry(tmp_path: Path) -> TextNode:
    path = tmp_path / "entries.jsonl"
    path.write_text(json.dumps(ENTRY), "utf-8")
    [document] = SimpleDirectoryReader(input_files=[path]).load_data()
    return document


def shown(passage: Passage, start: int = 0, end: int | None = None) -> Any:
    text = Piece(passage, start, len(passage.text) if end is None else end, 0).render()
    label, fence, *lines, last = text.split("\n")
    assert (label, fence, last) == ("1:", '"""1', '"""1')
    return json.loads("\n".join(lines))


def test_an_entry_is_shown_as_json_with_only_what_a_model_needs(tmp_path: Path) -> None:
    [passage] = passages_of([NodeWithScore(read_entry(tmp_path))])
    assert shown(passage) == {
        "title": "Pumps",
        "category": "Maintenance",
        "date": "2024-05-01",
        "question": ENTRY["question"],
        "answer": f"{ENTRY['answer']}\n\n{ENTRY['full_answer']}",
    }


def test_every_part_of_a_cut_entry_is_json_with_its_question(tmp_path: Path) -> None:
    [passage] = passages_of([NodeWithScore(read_entry(tmp_path))])
    at = passage.text.index("Only")
    first, second = shown(passage, 0, at), shown(passage, at)
    assert first["question"] == second["question"] == ENTRY["question"]
    assert (first["answer"], second["answer"]) == (ENTRY["answer"], ENTRY["full_answer"])


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"question": "Why?"}, {"question": "Why?", "answer": "Because."}),
        ({"question": "Why?", "answer": "No."}, {"question": "Why?", "answer": "Because."}),
        ({"question": "Why?", "extra": {"x": 1}}, {"question": "Why?", "answer": "Because."}),
        ({"question": "Why?", "version": 3}, {"version": 3, "question": "Why?", "answer": "Because."}),
        ({"question": "Why?", "title": None, "summary": "long"}, {"question": "Why?", "answer": "Because."}),
    ],
)
def test_entries_of_any_origin_are_shown_so(metadata: dict[str, Any], expected: dict[str, Any]) -> None:
    [passage] = passages_of([NodeWithScore(TextNode("Because.", metadata=metadata))])
    assert shown(passage) == expected


def test_a_text_of_no_entry_is_shown_as_it_is() -> None:
    [passage] = passages_of([NodeWithScore(TextNode('A "text".', metadata={"title": "T"}))])
    assert passage.body == 'title: T\n\nA "text".'


@pytest.mark.parametrize("mode", ["compact", "refine", "tree_summarize", "simple_summarize", "accumulate"])
def test_an_entry_larger_than_a_prompt_is_cut_and_fits(mode: str) -> None:
    long = "\n".join(f'Step {number}: "turn" the valve.' for number in range(400))
    node = TextNode(f"How?\n\n{long}", metadata={"question": "How?", "answer": "Turn."})
    llm = ScriptedLLM("Turn it.", context_window=1000)
    response = get_response_synthesizer(llm, response_mode=mode).synthesize("How?", [NodeWithScore(node)])
    assert llm.prompts
    for prompt in llm.prompts:
        assert llm.count_prompts([prompt])[0] < 1000
    first = llm.prompts[0][-1].content
    assert '{"question": "How?", "answer": "' in first
    assert response.coverage[0].characters > 0
