"""What `responsa search` and `responsa index info` show."""

from __future__ import annotations

import json

import pytest
from tests.cli.memory_parts import Run


@pytest.mark.parametrize("kind", ["hybrid", "meaning", "words"])
def test_passages_are_shown_with_title_place_and_text(responsa: Run, kind: str) -> None:
    done = responsa("search", "which oil for the pump", "--top-k", "1", "--by", kind)
    assert done.code == 0
    title, place, text = done.out.splitlines()
    assert title.startswith("[1] X200 Pump  ")
    assert place == "    /shelf/pump.md, characters 0-66"
    assert text.strip() == "The X200 pump needs ISO VG 46 oil. Change the oil every 500 hours."


def test_nothing_found_is_said(responsa: Run) -> None:
    done = responsa("search", "zebra", "--by", "words")
    assert (done.code, done.out) == (0, "Nothing was found.\n")


def test_json_of_a_search_holds_scores_and_places(responsa: Run) -> None:
    document = json.loads(responsa("search", "借书", "--top-k", "2", "--json").out)
    assert document["query"] == "借书"
    assert len(document["sources"]) == 2
    assert document["sources"][0]["score"] >= document["sources"][1]["score"]
    assert {"number", "node_id", "metadata", "text", "start_character"} <= document["sources"][0].keys()


def test_index_info_shows_counts_and_the_embedding_model(responsa: Run) -> None:
    done = responsa("index", "info")
    assert done.code == 0
    facts = dict(line.rsplit("  ", 1) for line in done.out.splitlines())
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    assert (facts["documents"], facts["passages"], facts["embedding model"]) == ("3", "3", "bag-of-words")


def test_index_info_of_an_empty_index_is_no_failure(responsa: Run) -> None:
    facts = json.loads(responsa("index", "info", "--index", "empty", "--json").out)
    assert (facts["documents"], facts["passages"], facts["dimensions"]) == (0, 0, 64)
