"""An index's engines: each in one call, and a keyword that belongs to nobody refused before anything is built."""

from __future__ import annotations

from typing import Any

import pytest

from responsa.callbacks import BaseCallbackHandler, CallbackManager, CBEventType
from responsa.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from responsa.indices import VectorStoreIndex
from responsa.response_synthesizers import CompactAndRefine, TreeSummarize
from responsa.schema.errors import InvalidOption, UnknownOption
from responsa.schema.nodes import Document
from responsa.testing import BagOfWordsEmbedder, ScriptedLLM


@pytest.fixture
def index() -> VectorStoreIndex:
    documents = [
        Document(text="The harbor library opens at eleven.", id_="a"),
        Document(text="The pump takes ISO VG 46 oil.", id_="b"),
    ]
    return VectorStoreIndex.from_documents(documents, embed_model=BagOfWordsEmbedder())


def test_a_query_engine_answers_from_the_index(index: VectorStoreIndex) -> None:
    llm = ScriptedLLM("It opens at eleven. [1]")
    response = index.as_query_engine(llm, similarity_top_k=1).query("When does the library open?")
    assert response.response == "It opens at eleven. [1]"
    assert [source.node.ref_doc_id for source in response.source_nodes] == ["a"]
    assert "opens at eleven" in llm.prompts[0][-1].content


def test_keywords_go_to_who_takes_them(index: VectorStoreIndex) -> None:
    engine = index.as_query_engine(ScriptedLLM(), response_mode="tree_summarize", similarity_top_k=1, language="en")
    assert isinstance(engine.synthesizer, TreeSummarize)


def test_a_query_engines_callback_manager_is_told_of_the_search_too(index: VectorStoreIndex) -> None:
    started: list[str] = []

    class Recorder(BaseCallbackHandler):
        def on_event_start(self, event_type: CBEventType, *rest: Any) -> None:
            started.append(event_type.value)

        def on_event_end(self, event_type: CBEventType, *rest: Any) -> None:
            pass

    manager = CallbackManager([Recorder()])
    index.as_query_engine(ScriptedLLM("At eleven."), similarity_top_k=1, callback_manager=manager).query("When?")
    assert started == ["retrieve", "synthesize", "llm"]


@pytest.mark.parametrize(
    ("mode", "engine"),
    [
        ("simple", SimpleChatEngine),
        ("condense_question", CondenseQuestionChatEngine),
        ("context", ContextChatEngine),
        ("condense_plus_context", CondensePlusContextChatEngine),
        ("best", CondensePlusContextChatEngine),
    ],
)
def test_a_chat_engine_by_its_mode(index: VectorStoreIndex, mode: str, engine: type) -> None:
    made = index.as_chat_engine(mode, ScriptedLLM("It opens at eleven."), system_prompt="Be brief.")
    assert type(made) is engine
    assert made.chat("When does the library open?").text == "It opens at eleven."


@pytest.mark.parametrize("mode", ["react", "openai"])
def test_agents_are_refused_with_what_to_use_instead(index: VectorStoreIndex, mode: str) -> None:
    with pytest.raises(ValueError, match="condense_plus_context"):
        index.as_chat_engine(mode)


@pytest.mark.parametrize("mode", ["simple", "condense_question", "context", "best"])
def test_a_wrong_keyword_is_refused_by_name_before_anything_is_built(index: VectorStoreIndex, mode: str) -> None:
    wrong: dict[str, Any] = {"similarity_topk": 3}
    with pytest.raises(UnknownOption, match="similarity_topk") as told:
        index.as_chat_engine(mode, **wrong)
    assert "chat_history" in told.value.known
    assert ("similarity_top_k" in told.value.known) == (mode != "simple")
    with pytest.raises(UnknownOption, match="similarity_topk"):
        index.as_query_engine(**wrong)


def test_a_synthesizer_of_ones_own_takes_nothing_beside_it(index: VectorStoreIndex) -> None:
    with pytest.raises(InvalidOption, match="language"):
        index.as_query_engine(response_synthesizer=CompactAndRefine(ScriptedLLM()), language="en")
