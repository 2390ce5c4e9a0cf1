"""The query engine: search, postprocess, answer, in every way there is, each failure by its name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from responsa.query_engine import RetrieverQueryEngine
from responsa.response_synthesizers import CompactAndRefine
from responsa.schema.errors import EmptyQuestion, IndexEmpty, QuestionTooLong, RetrievalFailed
from responsa.schema.events import Done, ErrorRaised, PlanMade, SourcesFound
from responsa.schema.nodes import NodeWithScore, QueryBundle, TextNode
from responsa.schema.response import Outcome, Response
from responsa.schema.streaming_response import AsyncStreamingResponse, StreamingResponse
from responsa.testing import ScriptedLLM

NODES = [NodeWithScore(TextNode(f"Passage {n} has an owner.", id_=f"n{n}"), 1 / n) for n in range(1, 4)]
QUESTION = "Who has an owner?"


class Fixed:
    """A retriever that finds what it is told to, and remembers what it was asked and how."""

    def __init__(self, found: Sequence[NodeWithScore] | Exception = NODES) -> None:
        self.found = found
        self.asked: list[tuple[str, str]] = []

    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        return self._find("blocking", query)

    async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(0)
        return self._find("async", query)

    def _find(self, how: str, query: str | QueryBundle) -> list[NodeWithScore]:
        self.asked.append((how, str(query)))
        if isinstance(self.found, Exception):
            raise self.found
        return list(self.found)


class Step:
    """A postprocessor that applies a function."""

    def __init__(self, change: Callable[[list[NodeWithScore]], list[NodeWithScore]]) -> None:
        self.change = change
        self.queries: list[Any] = []

    def postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> list[NodeWithScore]:
        self.queries.append(query_bundle)
        return self.change(nodes)

    async def apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> list[NodeWithScore]:
        await asyncio.sleep(0)
        return self.postprocess_nodes(nodes, query_bundle, query_str)


def engine(
    found: Sequence[NodeWithScore] | Exception = NODES, *steps: Step, llm: ScriptedLLM | None = None
) -> RetrieverQueryEngine:
    return RetrieverQueryEngine(Fixed(found), CompactAndRefine(llm or ScriptedLLM("Passage 1 [1].")), steps)


def events(engine: RetrieverQueryEngine, query: str | QueryBundle) -> list[Any]:
    return list(engine.stream_events(query))


def aevents(engine: RetrieverQueryEngine, query: str | QueryBundle) -> list[Any]:
    async def read() -> list[Any]:
        return [event async for event in engine.astream_events(query)]

    return asyncio.run(read())


WAYS: dict[str, Callable[[RetrieverQueryEngine, Any], Any]] = {
    "query": lambda engine, query: engine.query(query),
    "aquery": lambda engine, query: asyncio.run(engine.aquery(query)),
    "stream_events": lambda engine, query: events(engine, query)[-1].response,
    "astream_events": lambda engine, query: aevents(engine, query)[-1].response,
}
EVERY_WAY = pytest.mark.parametrize("respond", WAYS.values(), ids=WAYS)
PLANS = {
    "plan": lambda engine, query: engine.plan(query),
    "aplan": lambda engine, query: asyncio.run(engine.aplan(query)),
}


@EVERY_WAY
@pytest.mark.parametrize("query", [QUESTION, QueryBundle(QUESTION)], ids=["text", "bundle"])
def test_it_answers_from_what_was_found(respond: Callable[..., Response], query: Any) -> None:
    response = respond(engine(), query)
    assert (response.text, response.outcome, response.source_nodes) == ("Passage 1 [1].", Outcome.ANSWERED, NODES)
    assert [record.call.stage for record in response.trace] == ["answer"]
    assert [citation.node_id for citation in response.citations] == ["n1"]


@EVERY_WAY
def test_a_search_is_made_once_and_in_the_way_the_question_is_asked(respond: Callable[..., Response]) -> None:
    made = engine()
    respond(made, QUESTION)
    how = "async" if respond in (WAYS["aquery"], WAYS["astream_events"]) else "blocking"
    assert isinstance(made.retriever, Fixed)
    assert made.retriever.asked == [(how, QUESTION)]


@EVERY_WAY
def test_postprocessors_are_applied_in_their_order_and_given_the_question(respond: Callable[..., Response]) -> None:
    steps = Step(lambda nodes: nodes[::-1]), Step(lambda nodes: nodes[:2])
    response = respond(engine(NODES, *steps), QueryBundle(QUESTION))
    assert [source.node_id for source in response.source_nodes] == ["n3", "n2"]
    assert [step.queries for step in steps] == [[QueryBundle(QUESTION)]] * 2


@EVERY_WAY
def test_nothing_found_is_told_apart_from_everything_else(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM()
    response = respond(engine([], llm=llm), QUESTION)
    assert (response.text, response.outcome, llm.prompts) == ("", Outcome.NO_SOURCES, [])


@EVERY_WAY
@pytest.mark.parametrize(
    "broken",
    [
        lambda: engine(OSError("disk gone")),
        lambda: engine(NODES, Step(lambda nodes: nodes), Step(lambda nodes: [][0])),
    ],
    ids=["retriever", "postprocessor"],
)
def test_a_search_that_fails_is_a_retrieval_failure_with_its_cause(
    respond: Callable[..., Response], broken: Callable[[], RetrieverQueryEngine]
) -> None:
    with pytest.raises(RetrievalFailed, match=r"OSError: disk gone|IndexError") as error:
        respond(broken(), QUESTION)
    cause = error.value.__cause__
    assert cause is not None
    assert isinstance(cause.__cause__, OSError | IndexError)


@EVERY_WAY
def test_an_error_of_the_package_passes_as_it_is(respond: Callable[..., Response]) -> None:
    failure = IndexEmpty("idx")
    with pytest.raises(IndexEmpty) as error:
        respond(engine(failure), QUESTION)
    assert error.value is failure


@EVERY_WAY
@pytest.mark.parametrize(
    ("question", "error"), [(" \n", EmptyQuestion), ("x" * 1_000_000, QuestionTooLong)], ids=["empty", "1 MB"]
)
def test_a_senseless_question_is_refused_before_any_search(
    respond: Callable[..., Response], question: str, error: type[Exception]
) -> None:
    made = engine()
    with pytest.raises(error):
        respond(made, question)
    assert isinstance(made.retriever, Fixed)
    assert made.retriever.asked == []


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_plan_searches_and_asks_no_model(plan: Callable[..., Any]) -> None:
    llm = ScriptedLLM()
    made = engine(llm=llm)
    planned = plan(made, QUESTION)
    assert (planned.by_stage, planned.exact, llm.prompts) == ({"answer": 1}, True, [])
    assert isinstance(made.retriever, Fixed)
    assert len(made.retriever.asked) == 1


@pytest.mark.parametrize("told_by", [events, aevents])
def test_the_stream_tells_the_plan_the_sources_and_the_response(told_by: Callable[..., list[Any]]) -> None:
    made = engine()
    told = told_by(made, QUESTION)
    types = [type(event) for event in told]
    assert types.index(PlanMade) < types.index(SourcesFound) < types.index(Done) == len(told) - 1
    assert told[types.index(PlanMade)].plan == engine().plan(QUESTION)
    assert list(told[types.index(SourcesFound)].nodes) == NODES


def test_the_stream_ends_with_the_error_and_raises_it() -> None:
    told: list[Any] = []
    with pytest.raises(RetrievalFailed):
        for event in engine(OSError("gone")).stream_events(QUESTION):
            told.append(event)  # noqa: PERF402
    assert [type(event) for event in told] == [ErrorRaised]


def test_a_streaming_synthesizer_makes_a_streaming_answer() -> None:
    made = RetrieverQueryEngine(Fixed(), CompactAndRefine(ScriptedLLM("One two."), streaming=True))
    streaming = made.query(QUESTION)
    assert isinstance(streaming, StreamingResponse)
    assert "".join(streaming.response_gen) == "One two."

    async def read() -> str:
        streaming = await made.aquery(QUESTION)
        assert isinstance(streaming, AsyncStreamingResponse)
        return "".join([piece async for piece in streaming.response_gen])

    assert asyncio.run(read()) == "One two."


def test_how_an_answer_is_generated_can_be_said_with_the_question() -> None:
    llm = ScriptedLLM("One two three four.")
    response = engine(llm=llm).query(QUESTION, llm_kwargs={"max_tokens": 3})
    assert str(response) == "One two"
    assert llm.samplings[0].max_tokens == 3


def test_what_was_found_can_be_had_alone() -> None:
    made = engine(NODES, Step(lambda nodes: nodes[:1]))
    assert made.retrieve(QUESTION) == asyncio.run(made.aretrieve(QUESTION)) == NODES[:1]


def test_without_a_synthesizer_it_compacts() -> None:
    assert isinstance(RetrieverQueryEngine(Fixed()).synthesizer, CompactAndRefine)


def test_closing_the_stream_closes_the_request() -> None:
    llm = ScriptedLLM("one two three four")
    told = engine(llm=llm).stream_events(QUESTION)
    for event in told:
        if event.type == "text_delta":
            break
    told.close()
    assert (llm.under_way, llm.closed) == (0, 1)
