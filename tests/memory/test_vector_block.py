"""Turns found again by what is said now."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.memory.support import LLM, assistant, talk, user

from responsa.memory import Memory, SimpleChatStore, VectorMemoryBlock
from responsa.programs import stream
from responsa.retrieval.stores import LanceStore, MemoryStore, StoreMeta
from responsa.schema.errors import InvalidOption
from responsa.schema.events import WarningRaised
from responsa.schema.protocols import ChatStore
from responsa.testing.embedder import BagOfWordsEmbedder

CATS = [user("My cats are called Mia and Tom."), assistant("Lovely names for cats.")]
RIVERS = [user("The river Elbe flows through Dresden."), assistant("It does, and through Hamburg.")]


def vector_memory(
    block: VectorMemoryBlock, session: str = "s", store: ChatStore | None = None, **options: Any
) -> Memory:
    return Memory(session, chat_store=store, memory_blocks=[block], token_limit=400, llm=LLM, **options)


def block(embedder: BagOfWordsEmbedder | None = None, **options: Any) -> VectorMemoryBlock:
    return VectorMemoryBlock(
        embed_model=embedder or BagOfWordsEmbedder(), similarity_top_k=1, retrieval_context_window=0, **options
    )


def shown(one: Memory, question: str) -> str:
    first = one.get(question)[0]
    return first.content if first.role == "system" else ""


@pytest.mark.parametrize("way", ["blocking", "asynchronous"])
def test_what_fell_out_is_found_by_what_is_said_now(way: str) -> None:
    one = vector_memory(block())
    one.set([*CATS, *RIVERS, *talk(40)])

    def recalled(question: str) -> str:
        messages = one.get(question) if way == "blocking" else asyncio.run(one.aget(question))
        assert messages[-2:] == talk(40)[-2:]
        return messages[0].content

    assert "Mia and Tom" in recalled("What are my cats called?")
    assert "Elbe" in recalled("Which river flows through Dresden?")
    assert "Mia" not in recalled("Which river flows through Dresden?")


def test_each_turn_is_embedded_once() -> None:
    embedder = BagOfWordsEmbedder()
    one = vector_memory(block(embedder))
    for turn in range(60):
        one.put_messages(talk(1, begin=turn))
        one.get("now")
    assert len(set(embedder.texts)) == len(embedder.texts) > 5


def test_a_long_turn_is_kept_whole_in_passages() -> None:
    embedder = BagOfWordsEmbedder()
    one = vector_memory(block(embedder))
    sentences = [f"Sentence number {n} speaks of thing{n}." for n in range(400)]
    one.set([user(" ".join(sentences)), *talk(40)])
    one.get("begin")
    assert len(embedder.texts) > 35
    assert max(map(len, embedder.texts)) < 2000
    assert all(f"thing{n}." in " ".join(embedder.texts) for n in range(400))


def test_sessions_are_kept_apart() -> None:
    shared, store = block(), SimpleChatStore()
    for session, said in (("a", CATS), ("b", RIVERS), ("\x00'; DROP", talk(2, begin=90))):
        one = vector_memory(shared, session, store)
        one.set([*said, *talk(40)])
        one.get("begin")
    assert "Mia" in shown(vector_memory(shared, "a", store), "cats river")
    assert "Mia" not in shown(vector_memory(shared, "b", store), "cats names Mia Tom")
    assert "Elbe" in shown(vector_memory(shared, "b", store), "cats names Mia Tom")


def test_a_conversation_that_was_forgotten_is_not_found_again() -> None:
    one = vector_memory(block())
    one.set([*CATS, *talk(40)])
    assert "Mia" in shown(one, "cats")
    one.set([*RIVERS, *talk(40)])
    assert "Mia" not in shown(one, "cats")
    assert "Elbe" in shown(one, "Which river flows through Dresden?")
    one.reset()
    assert one.get("cats") == []


@pytest.mark.parametrize("way", ["blocking", "asynchronous"])
def test_vectors_of_a_session_can_be_removed(way: str) -> None:
    vectors = MemoryStore(StoreMeta("bag-of-words", 64))
    kept = block(vector_store=vectors)
    store = SimpleChatStore()
    for session in ("a", "b"):
        one = vector_memory(kept, session, store)
        one.set([*CATS, *talk(40)])
        one.get("begin")
    before = vectors.count()
    if way == "blocking":
        kept.forget("a")
    else:
        asyncio.run(kept.aforget("a"))
    assert 0 < vectors.count() < before
    assert "Mia" in shown(vector_memory(kept, "b", store), "cats")


def test_vectors_on_disk_outlive_the_process_and_are_not_made_again(tmp_path: Path) -> None:
    chats, embedder = tmp_path / "chats.jsonl", BagOfWordsEmbedder()
    vectors = LanceStore.create(tmp_path / "vectors", StoreMeta("bag-of-words", 64))
    first = vector_memory(block(embedder, vector_store=vectors), store=SimpleChatStore(chats))
    first.set([*CATS, *talk(40)])
    assert "Mia" in shown(first, "cats")
    embedded = len(embedder.texts)
    vectors.close()
    reopened = LanceStore.open(tmp_path / "vectors")
    second = vector_memory(block(embedder, vector_store=reopened), store=SimpleChatStore(chats))
    assert "Mia" in shown(second, "cats")
    assert len(embedder.texts) == embedded
    reopened.close()


def test_vectors_in_memory_are_made_anew_after_a_restart(tmp_path: Path) -> None:
    first = vector_memory(block(), store=SimpleChatStore(tmp_path / "chats.jsonl"))
    first.set([*CATS, *talk(40)])
    first.get("begin")
    second = vector_memory(block(), store=SimpleChatStore(tmp_path / "chats.jsonl"))
    assert "Mia" in shown(second, "cats")


def test_a_fork_finds_its_own_turns_only() -> None:
    shared, store = block(), SimpleChatStore()
    one = vector_memory(shared, "s", store)
    one.set([*CATS, *talk(40)])
    one.get("begin")
    fork = store.fork_session("s", store.list_messages("s")[-1].id)
    one.put_messages([*RIVERS, *talk(40, begin=60)])
    one.get("begin")
    other = vector_memory(shared, fork.id, store)
    assert "Mia" in shown(other, "cats")
    assert "Elbe" not in shown(other, "Elbe Dresden Hamburg river")


def test_an_embedder_that_fails_costs_nothing_but_a_warning() -> None:
    class Broken(BagOfWordsEmbedder):
        broken = True

        def get_text_embedding_batch(self, texts: Any) -> list[list[float]]:
            if self.broken:
                raise OSError("the embedding server is gone")
            return super().get_text_embedding_batch(texts)

    embedder = Broken()
    one = vector_memory(block(embedder))
    one.set([*CATS, *talk(40)])
    events = list(stream(one.recall("cats"), LLM))
    assert [event.notice.code for event in events if isinstance(event, WarningRaised)] == ["memory_block_failed"]
    embedder.broken = False
    assert "Mia" in shown(one, "cats")


def test_options_are_checked() -> None:
    with pytest.raises(InvalidOption, match="similarity_top_k"):
        VectorMemoryBlock(similarity_top_k=0)
