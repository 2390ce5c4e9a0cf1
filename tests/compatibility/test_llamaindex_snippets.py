"""Code written for LlamaIndex runs when its import root is changed, and nothing else.

Each snippet is written with LlamaIndex's own import root, which the test changes. `run` stands for what a page's reader
has around it: a loop that runs coroutines, some nodes, a text.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from responsa import NodeWithScore, Settings, TextNode
from responsa.testing import ScriptedLLM

SNIPPETS: dict[str, str] = {
    "a synthesizer from the factory, by mode": """
        from llama_index.core.data_structs import Node
        from llama_index.core.response_synthesizers import ResponseMode
        from llama_index.core import get_response_synthesizer

        synthesizer = get_response_synthesizer(response_mode=ResponseMode.COMPACT)
        response = synthesizer.synthesize("Who owns it?", nodes=[Node(text="Ann owns it."), Node(text="It is red.")])
        assert str(response) == "Ann."
        assert [source.node.get_content() for source in response.source_nodes] == ["Ann owns it.", "It is red."]
    """,
    "every keyword of the factory's page, blocking and async, with additional sources": """
        from llama_index.core.data_structs import Node
        from llama_index.core.schema import NodeWithScore
        from llama_index.core import PromptTemplate, get_response_synthesizer

        synthesizer = get_response_synthesizer(
            response_mode="refine",
            text_qa_template=PromptTemplate("{context_str} {query_str}"),
            refine_template=PromptTemplate("{context_msg} {existing_answer} {query_str}"),
            use_async=False,
            streaming=False,
            structured_answer_filtering=False,
        )
        shown = [NodeWithScore(node=Node(text="Ann owns it."), score=1.0)]
        listed = [NodeWithScore(node=Node(text="It is red."), score=1.0)]
        response = synthesizer.synthesize("Who owns it?", nodes=shown, additional_source_nodes=listed)
        again = run(synthesizer.asynthesize("Who owns it?", nodes=shown, additional_source_nodes=listed))
        assert response.source_nodes == again.source_nodes == shown + listed
        assert response.response == again.response == "Ann."
    """,
    "a class of its own, an additional variable, bare texts": """
        from llama_index.core import PromptTemplate
        from llama_index.core.response_synthesizers import TreeSummarize

        template = PromptTemplate("Context: {context_str}\\nAnswer {query_str} like {tone_name}: ")
        summarizer = TreeSummarize(verbose=True, summary_template=template)
        response = summarizer.get_response("Who owns it?", ["Ann owns it."], tone_name="a pirate")
        assert response == "Ann."
        assert run(summarizer.aget_response("Who owns it?", ["Ann owns it."], tone_name="a pirate")) == "Ann."
        assert "like a pirate" in llm.prompts[0][0].content
    """,
    "every mode by its name, and its class": """
        from llama_index.core import get_response_synthesizer
        from llama_index.core.response_synthesizers import (
            Accumulate, BaseSynthesizer, CompactAndRefine, Generation, Refine, ResponseMode, SimpleSummarize,
            TreeSummarize,
        )
        from llama_index.core.response_synthesizers.base import BaseSynthesizer as Base
        from llama_index.core.response_synthesizers.compact_and_accumulate import CompactAndAccumulate
        from llama_index.core.response_synthesizers.context_only import ContextOnly
        from llama_index.core.response_synthesizers.factory import get_response_synthesizer as factory
        from llama_index.core.response_synthesizers.no_text import NoText
        from llama_index.core.response_synthesizers.type import ResponseMode as Mode

        classes = {
            "refine": Refine, "compact": CompactAndRefine, "simple_summarize": SimpleSummarize,
            "tree_summarize": TreeSummarize, "generation": Generation, "no_text": NoText, "context_only": ContextOnly,
            "accumulate": Accumulate, "compact_accumulate": CompactAndAccumulate,
        }
        assert (factory, Mode, Base) == (get_response_synthesizer, ResponseMode, BaseSynthesizer)
        assert {mode.value for mode in ResponseMode} == set(classes)
        for mode, cls in classes.items():
            synthesizer = get_response_synthesizer(response_mode=mode)
            assert type(synthesizer) is cls and isinstance(synthesizer, BaseSynthesizer)
            assert synthesizer.synthesize("Who owns it?", nodes=nodes).source_nodes == nodes
    """,
    "a mode of one's own, as BaseSynthesizer asks for": """
        from typing import Any, Sequence

        from llama_index.core.response_synthesizers import BaseSynthesizer
        from llama_index.core.types import RESPONSE_TEXT_TYPE

        class Shortest(BaseSynthesizer):
            def get_response(
                self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
            ) -> RESPONSE_TEXT_TYPE:
                shortest = min(text_chunks, key=len)
                return self._llm.complete(f"{shortest} {query_str}").text

            async def aget_response(
                self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
            ) -> RESPONSE_TEXT_TYPE:
                answer = await self._llm.acomplete(f"{min(text_chunks, key=len)} {query_str}")
                return answer.text

        synthesizer = Shortest()
        assert str(synthesizer.synthesize("Who owns it?", nodes=nodes)) == "Ann."
        assert str(run(synthesizer.asynthesize("Who owns it?", nodes=nodes))) == "Ann."
        assert llm.prompts[0][0].content == "It is red. Who owns it?"
    """,
    "a mode of one's own that streams, and one with a constructor of its own": """
        from llama_index.core import PromptTemplate, Settings
        from llama_index.core.response_synthesizers import BaseSynthesizer

        class Spelled(BaseSynthesizer):
            def __init__(self, llm=None, template=None, **kwargs):
                super().__init__(llm=llm, **kwargs)
                self._llm = llm or Settings.llm
                self._template = template or PromptTemplate("{context} {query}")

            def _get_prompts(self):
                return {"template": self._template}

            def _update_prompts(self, prompts):
                self._template = prompts.get("template", self._template)

            def get_response(self, query_str, text_chunks, **response_kwargs):
                answer = self._llm.predict(self._template, context=text_chunks[0], query=query_str)
                return (letter for letter in answer) if self._streaming else answer

            async def aget_response(self, query_str, text_chunks, **response_kwargs):
                return self.get_response(query_str, text_chunks, **response_kwargs)

        synthesizer = Spelled(streaming=True)
        assert list(synthesizer.synthesize("Who owns it?", nodes=nodes).response_gen) == ["A", "n", "n", "."]

        async def read():
            response = await synthesizer.asynthesize("Who owns it?", nodes=nodes)
            return [piece async for piece in response.async_response_gen()]

        assert run(read()) == ["A", "n", "n", "."]
        assert str(Spelled().synthesize("Who owns it?", nodes=nodes)) == "Ann."
        synthesizer.update_prompts({"template": PromptTemplate("Say it: {query}")})
        assert synthesizer.get_prompts()["template"].get_template() == "Say it: {query}"
    """,
    "a streamed answer: its generator, printed, and as a whole": """
        from llama_index.core import get_response_synthesizer

        synthesizer = get_response_synthesizer(response_mode="compact", streaming=True)
        response = synthesizer.synthesize("Who owns it?", nodes=nodes)
        assert "".join(text for text in response.response_gen) == "Ann."
        assert str(response) == "Ann."
        assert response.get_response().response == "Ann."
        synthesizer.synthesize("Who owns it?", nodes=nodes).print_response_stream()

        async def read():
            response = await synthesizer.asynthesize("Who owns it?", nodes=nodes)
            return "".join([text async for text in response.async_response_gen()])

        assert run(read()) == "Ann."
    """,
    "sources, formatted": """
        from llama_index.core import get_response_synthesizer

        for streaming in (False, True):
            response = get_response_synthesizer(streaming=streaming).synthesize("Who owns it?", nodes=nodes)
            assert response.get_formatted_sources(length=200).startswith("> Source (Doc id: n1): Ann owns it.")
        assert "It is red." in response.get_formatted_sources(length=4, trim_text=False)
        assert response.metadata == {"n1": {"file_name": "a.txt"}, "n2": {}}
    """,
    "an object for an answer, its fields on the response": """
        from pydantic import BaseModel

        from llama_index.core import get_response_synthesizer
        from llama_index.core.base.response.schema import PydanticResponse

        class Owner(BaseModel):
            '''Who owns it.'''

            name: str

        synthesizer = get_response_synthesizer(response_mode="tree_summarize", output_cls=Owner, llm=json_llm)
        response = synthesizer.synthesize("Who owns it?", nodes=nodes)
        assert isinstance(response, PydanticResponse)
        assert response.response == Owner(name="Ann")
        assert response.name == "Ann"
        assert str(response) == '{"name":"Ann"}'
        assert response.get_response().response == '{"name":"Ann"}'
        assert isinstance(synthesizer.get_response("Who owns it?", ["Ann owns it."]), Owner)
    """,
    "only what answers the question": """
        from llama_index.core import get_response_synthesizer

        synthesizer = get_response_synthesizer(structured_answer_filtering=True, llm=deciding_llm)
        assert str(synthesizer.synthesize("Who owns it?", nodes=nodes)) == "Ann."
    """,
    "a text template: formatted, as messages, filled in part": """
        from llama_index.core import PromptTemplate
        from llama_index.core.prompts import PromptType

        template = PromptTemplate(
            "Given {context_str}, answer {query_str} as {tone}.", prompt_type=PromptType.QUESTION_ANSWER
        )
        assert template.template_vars == ["context_str", "query_str", "tone"]
        dry = template.partial_format(tone="a judge")
        assert dry.format(context_str="C", query_str="Q") == "Given C, answer Q as a judge."
        assert template.format(context_str="C", query_str="Q", tone="x") == "Given C, answer Q as x."
        (message,) = dry.format_messages(context_str="C", query_str="Q")
        assert (message.role, message.content) == ("user", "Given C, answer Q as a judge.")
    """,
    "a text template with names of its own": """
        from llama_index.core import PromptTemplate, get_response_synthesizer

        names = {"context_str": "my_context", "query_str": "my_query"}
        template = PromptTemplate("Here: {my_context}. Asked: {my_query}.", template_var_mappings=names)
        assert template.format(my_context="C", my_query="Q") == "Here: C. Asked: Q."
        assert template.format(context_str="C", query_str="Q") == "Here: C. Asked: Q."
        get_response_synthesizer(text_qa_template=template).synthesize("Who owns it?", nodes=nodes)
        assert llm.prompts[0][0].content.endswith("Asked: Who owns it?.")
    """,
    "variables that functions make": """
        from llama_index.core import PromptTemplate, get_response_synthesizer

        def bulleted(**kwargs):
            return "\\n".join(f"- {part}" for part in kwargs["context_str"].split("\\n\\n"))

        template = PromptTemplate("{context_str}\\n{query_str}", function_mappings={"context_str": bulleted})
        assert template.format(context_str="a\\n\\nb", query_str="Q") == "- a\\n- b\\nQ"
        get_response_synthesizer(text_qa_template=template).synthesize("Who owns it?", nodes=nodes)
        assert "- 1: " in llm.prompts[0][0].content and "- 2: " in llm.prompts[0][0].content
    """,
    "a chat template": """
        from llama_index.core import ChatPromptTemplate, get_response_synthesizer
        from llama_index.core.llms import ChatMessage, MessageRole
        from llama_index.core.base.llms.types import ChatMessage as Message

        template = ChatPromptTemplate(
            message_templates=[
                ChatMessage(content="You are a poet.", role=MessageRole.SYSTEM),
                ChatMessage(content="Write about {context_str}: {query_str}", role=MessageRole.USER),
            ]
        )
        pairs = ChatPromptTemplate.from_messages(
            [("system", "You are a poet."), ("user", "Write about {context_str}: {query_str}")]
        )
        messages = template.format_messages(context_str="C", query_str="Q")
        assert messages == pairs.format_messages(context_str="C", query_str="Q")
        assert Message is ChatMessage
        assert [message.content for message in messages] == ["You are a poet.", "Write about C: Q"]
        assert "You are a poet." in template.format(context_str="C", query_str="Q")
        get_response_synthesizer(text_qa_template=template).synthesize("Who owns it?", nodes=nodes)
        assert llm.prompts[0][0].role == "system"
    """,
    "a Jinja template: as text, in part, with functions and names of its own": """
        from llama_index.core.prompts import RichPromptTemplate

        template = RichPromptTemplate("Given {{ context_str }}, answer {{ query_str }}.")
        assert template.format(context_str="C", query_str="Q") == "Given C, answer Q."
        (message,) = template.format_messages(context_str="C", query_str="Q")
        assert message.content == "Given C, answer Q."
        assert RichPromptTemplate("{{ foo }} {{ bar }}").partial_format(foo="abc").format(bar="def") == "abc def"
        loud = RichPromptTemplate("{{ word }}", function_mappings={"word": lambda **given: given["word"].upper()})
        assert loud.format(word="so") == "SO"
        named = RichPromptTemplate("{{ context_str }}!", template_var_mappings={"context_str": "my_context"})
        assert named.format(my_context="C") == named.format(context_str="C") == "C!"
    """,
    "a Jinja chat template that loops over nodes": """
        from llama_index.core.prompts import RichPromptTemplate

        template = RichPromptTemplate(
            '''
        {% chat role="system" %}
        Answer from the notes.
        {% endchat %}

        {% chat role="user" %}
        {% for node in nodes %}
        {{ node.text }}
        {% endfor %}
        {% endchat %}
        '''
        )
        system, user = template.format_messages(nodes=nodes)
        assert (system.role, user.role) == ("system", "user")
        assert "Ann owns it." in user.content and "It is red." in user.content
    """,
    "a Jinja chat template with pictures": """
        from llama_index.core.prompts import RichPromptTemplate

        template = RichPromptTemplate(
            '''
        {% chat role="user" %}
        {% for path, text in pages %}
        Here is a text: {{ text }}
        And here a picture:
        {{ path | image }}
        {% endfor %}
        {% endchat %}
        '''
        )
        (message,) = template.format_messages(pages=[("page_1.png", "First."), ("page_2.png", "Second.")])
        assert [block.block_type for block in message.blocks] == ["text", "image", "text", "image"]
        assert message.blocks[1].image == b"one"
        assert "Second." in message.blocks[2].text
    """,
    "a template that depends on the model": """
        from llama_index.core import PromptTemplate, SelectorPromptTemplate, get_response_synthesizer

        chat = PromptTemplate("Chat: {context_str} {query_str}")
        plain = PromptTemplate("Plain: {context_str} {query_str}")
        template = SelectorPromptTemplate(
            default_template=plain, conditionals=[(lambda llm: llm.metadata.is_chat_model, chat)]
        )
        get_response_synthesizer(text_qa_template=template).synthesize("Who owns it?", nodes=nodes)
        assert llm.prompts[0][0].content.startswith("Chat: ")
    """,
    "templates seen and replaced by name": """
        from llama_index.core import PromptTemplate, get_response_synthesizer
        from llama_index.core.query_engine import RetrieverQueryEngine

        synthesizer = get_response_synthesizer(response_mode="compact")
        assert list(synthesizer.get_prompts()) == ["text_qa_template", "refine_template"]
        synthesizer.update_prompts({"text_qa_template": PromptTemplate("{context_str} Ahoy, {query_str}")})
        synthesizer.synthesize("who owns it?", nodes=nodes)
        assert "Ahoy, who owns it?" in llm.prompts[0][0].content

        engine = RetrieverQueryEngine.from_args(retriever, response_mode="compact")
        prompts = engine.get_prompts()
        assert list(prompts) == ["response_synthesizer:text_qa_template", "response_synthesizer:refine_template"]
        assert all("{query_str}" in prompt.get_template() for prompt in prompts.values())
        hey = PromptTemplate("{context_str} Hey, {query_str}")
        engine.update_prompts({"response_synthesizer:text_qa_template": hey})
        assert str(engine.query("who owns it?")) == "Ann."
        assert "Hey, who owns it?" in llm.prompts[1][0].content
    """,
    "a query engine put together by hand": """
        from llama_index.core import PromptTemplate, QueryBundle, get_response_synthesizer
        from llama_index.core.query_engine import RetrieverQueryEngine
        from llama_index.core.postprocessor import SimilarityPostprocessor

        synthesizer = get_response_synthesizer(text_qa_template=PromptTemplate("{context_str} {query_str}"))
        engine = RetrieverQueryEngine(
            retriever=retriever,
            response_synthesizer=synthesizer,
            node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.5)],
        )
        response = engine.query("Who owns it?")
        assert [source.node_id for source in response.source_nodes] == ["n1"]
        found = engine.retrieve(QueryBundle("Who owns it?"))
        assert str(engine.synthesize(QueryBundle("Who owns it?"), found)) == "Ann."
        assert str(run(engine.asynthesize(QueryBundle("Who owns it?"), found))) == "Ann."
        assert engine.with_retriever(retriever).retriever is retriever
    """,
    "one separate answer a passage": """
        from llama_index.core.response_synthesizers import Accumulate

        response = Accumulate(use_async=True).get_response("Who owns it?", ["Ann owns it.", "It is red."])
        assert response == "Response 1: Ann.\\n---------------------\\nResponse 2: Ann."
        ruled = Accumulate().get_response("Who owns it?", ["Ann owns it.", "It is red."], separator="\\n===\\n")
        assert ruled == "Response 1: Ann.\\n===\\nResponse 2: Ann."
    """,
    "an earlier answer, improved": """
        from llama_index.core.response_synthesizers import Refine

        assert Refine().get_response("Who owns it?", ["Ann owns it."], prev_response="Nobody.") == "Ann."
        assert "Nobody." in llm.prompts[0][-1].content
    """,
    "packing by hand": """
        from llama_index.core import PromptHelper, PromptTemplate
        from llama_index.core.indices.prompt_helper import ChatPromptHelper
        from llama_index.core.llms import ChatMessage

        helper = PromptHelper(context_window=200, num_output=50, chunk_overlap_ratio=0.1, chunk_size_limit=None)
        template = PromptTemplate("{context_str} {query_str}")
        chunks = ["one two three. " * 8, "four five six. " * 8, "seven."]
        packs = helper.repack(template, chunks)
        assert len(packs) > 1
        assert all(chunk.split()[0] in " ".join(packs) for chunk in chunks)
        assert len(helper.truncate(template, chunks)) == len(chunks)
        chat = ChatPromptHelper.from_llm_metadata(llm.metadata)
        messages = [ChatMessage(role="user", content=chunk) for chunk in chunks]
        assert [message.content for message in chat.repack(template, messages, llm=llm)] == ["\\n\\n".join(chunks)]
        assert run(chat.arepack(template, messages)) == chat.repack(template, messages)
        assert run(chat.atruncate(template, messages)) == chat.truncate(template, messages)
    """,
    "handlers told of what happens": """
        from llama_index.core import Settings, get_response_synthesizer
        from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
        from responsa.callbacks import BaseCallbackHandler

        class Counter(BaseCallbackHandler):
            def __init__(self):
                super().__init__(event_starts_to_ignore=[], event_ends_to_ignore=[CBEventType.SYNTHESIZE])
                self.told = []

            def on_event_start(self, event_type, payload=None, event_id="", parent_id="", **kwargs):
                self.told.append(("start", event_type.value))
                return event_id

            def on_event_end(self, event_type, payload=None, event_id="", **kwargs):
                self.told.append(("end", payload[EventPayload.RESPONSE]))

        counter = Counter()
        manager = CallbackManager([counter])
        get_response_synthesizer(callback_manager=manager).synthesize("Who owns it?", nodes=nodes)
        assert counter.told == [("start", "synthesize"), ("start", "llm"), ("end", "Ann.")]
    """,
    "the settings stand in for what is not given": """
        from llama_index.core import Settings, get_response_synthesizer

        Settings.llm = llm
        assert str(get_response_synthesizer().synthesize("Who owns it?", nodes=nodes)) == "Ann."
        assert str(get_response_synthesizer(llm=other_llm).synthesize("Who owns it?", nodes=nodes)) == "Bob."
    """,
}


class Retriever:
    def retrieve(self, query: Any) -> list[NodeWithScore]:
        return nodes()

    async def aretrieve(self, query: Any) -> list[NodeWithScore]:
        return nodes()


def nodes() -> list[NodeWithScore]:
    return [
        NodeWithScore(TextNode("Ann owns it.", id_="n1", metadata={"file_name": "a.txt"}), 0.9),
        NodeWithScore(TextNode("It is red.", id_="n2"), 0.4),
    ]


def dedented(snippet: str) -> str:
    return re.sub(r"^ {8}", "", snippet, flags=re.MULTILINE)


def changed(snippet: str) -> str:
    """The snippet with the import root changed, and nothing else."""
    return re.sub(r"\bllama_index(?:\.core)?\b", "responsa", snippet)


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    llm = ScriptedLLM("Ann.")
    monkeypatch.setattr(Settings, "llm", llm)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page_1.png").write_bytes(b"one")
    (tmp_path / "page_2.png").write_bytes(b"two")
    return {
        "__name__": "snippet",
        "run": asyncio.run,
        "nodes": nodes(),
        "retriever": Retriever(),
        "llm": llm,
        "other_llm": ScriptedLLM("Bob."),
        "json_llm": ScriptedLLM('{"name": "Ann"}'),
        "deciding_llm": ScriptedLLM('{"query_satisfied": true, "answer": "Ann."}'),
    }


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_runs_with_the_import_root_changed(
    name: str, surroundings: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(changed(dedented(SNIPPETS[name])), name, "exec"), surroundings)


# The base class as the requirements show it, unchanged but for the import root.
SHOWN_BASE = '''
from llama_index.core import Settings
from abc import ABC
from typing import Optional, Sequence, Any


class BaseSynthesizer(ABC):
    """回答构建基类"""

    def __init__(
        self,
        llm: Optional[LLM] = None,
        streaming: bool = False,
    ) -> None:
        """初始化参数"""
        self._llm = llm or Settings.llm
        self._callback_manager = Settings.callback_manager
        self._streaming = streaming

    @abstractmethod
    def get_response(
        self,
        query_str: str,
        text_chunks: Sequence[str],
        **response_kwargs: Any,
    ) -> RESPONSE_TEXT_TYPE:
        """获取回答（同步）"""
        ...

    @abstractmethod
    async def aget_response(
        self,
        query_str: str,
        text_chunks: Sequence[str],
        **response_kwargs: Any,
    ) -> RESPONSE_TEXT_TYPE:
        """获取回答（异步）"""
        ...
'''


def test_the_base_class_that_is_shown_and_ours_take_the_same_subclass(surroundings: dict[str, Any]) -> None:
    from abc import abstractmethod

    from responsa.llms import LLM
    from responsa.response_synthesizers import BaseSynthesizer
    from responsa.types import RESPONSE_TEXT_TYPE

    shown = {"LLM": LLM, "abstractmethod": abstractmethod, "RESPONSE_TEXT_TYPE": RESPONSE_TEXT_TYPE}
    exec(changed(SHOWN_BASE), shown)
    for base in (shown["BaseSynthesizer"], BaseSynthesizer):

        class Own(base):  # type: ignore[misc,valid-type]
            def get_response(self, query_str: str, text_chunks: Any, **response_kwargs: Any) -> Any:
                return f"{self._llm.complete(query_str)} {len(text_chunks)} {self._streaming}"

            async def aget_response(self, query_str: str, text_chunks: Any, **response_kwargs: Any) -> Any:
                return self.get_response(query_str, text_chunks, **response_kwargs)

        own = Own(streaming=False)
        assert own.get_response("Who?", ["a", "b"]) == "Ann. 2 False"
        assert own._callback_manager is Settings.callback_manager
        assert asyncio.run(Own(llm=surroundings["other_llm"]).aget_response("Who?", ["a"])) == "Bob. 1 False"
    assert str(Own().synthesize("Who?", nodes())) == "Ann. 2 False"
