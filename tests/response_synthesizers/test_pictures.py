"""Messages of text and pictures: packed by message, counted, and sent to an endpoint that takes pictures."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
from tests.response_synthesizers.scenes import QUESTION

from responsa import ChatPromptHelper, RichPromptTemplate, get_response_synthesizer
from responsa.llms import ChatMessage, ImageBlock, TextBlock
from responsa.llms.openai_like import OpenAILike
from responsa.schema.errors import InvalidOption
from responsa.testing import ScriptedLLM

PICTURE = b"\x89PNG picture"
MESSAGES = [
    ChatMessage("user", blocks=[TextBlock("A red house."), ImageBlock(url="https://pictures/house.png", detail="low")]),
    ChatMessage("user", blocks=[ImageBlock(image=PICTURE)]),
    ChatMessage("user", "A blue house."),
]
TEMPLATE = RichPromptTemplate(
    """
{% chat role="system" %}Look closely.{% endchat %}
{% chat role="user" %}
{% for message in context_messages %}
{% for block in message.blocks %}
{% if block.block_type == "text" %}
{{ block.text }}
{% elif block.block_type == "image" %}
{{ block.inline_url() | image }}
{% endif %}
{% endfor %}
{% endfor %}
Question: {{ query_str }}
{% endchat %}
"""
)


class Stream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that comes in pieces."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[bytes]:
        return (line.encode() for line in self._lines)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for line in self:
            yield line


class RecordedEndpoint:
    """An OpenAI-compatible endpoint that takes pictures, as it was recorded; it keeps what it is sent."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/models":
            return httpx2.Response(200, json={"object": "list", "data": [{"id": "vision", "object": "model"}]})
        if request.url.path != "/v1/chat/completions":
            return httpx2.Response(404, json={"error": {"message": "not found"}})
        self.bodies.append(json.loads(request.content))
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "vision"}
        told = [
            {
                **chunk,
                "choices": [{"index": 0, "delta": {"role": "assistant", "content": "A red"}, "finish_reason": None}],
            },
            {**chunk, "choices": [{"index": 0, "delta": {"content": " house [1]."}, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {**chunk, "choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 6, "total_tokens": 906}},
        ]
        lines = [f"data: {json.dumps(one)}\n\n" for one in told] + ["data: [DONE]\n\n"]
        return httpx2.Response(200, stream=Stream(lines), headers={"content-type": "text/event-stream"})


def parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


@pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])
@pytest.mark.parametrize(
    "mode", ["compact", "refine", "simple_summarize", "tree_summarize", "accumulate", "compact_accumulate"]
)
def test_pictures_reach_the_endpoint_in_every_mode(mode: str, is_async: bool) -> None:
    endpoint = RecordedEndpoint()
    llm = OpenAILike("vision", context_window=8192, transport=httpx2.MockTransport(endpoint), max_retries=0)
    synthesizer = get_response_synthesizer(llm, response_mode=mode, multimodal=True)
    if is_async:
        text = asyncio.run(synthesizer.aget_response_from_messages(QUESTION, MESSAGES))
    else:
        text = synthesizer.get_response_from_messages(QUESTION, MESSAGES)
    assert "A red house [1]." in text
    sent = [part["image_url"] for body in endpoint.bodies for part in parts(body) if part["type"] == "image_url"]
    inline = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"
    assert sent == [{"url": "https://pictures/house.png", "detail": "low"}, {"url": inline}]
    texts = " ".join(part["text"] for body in endpoint.bodies for part in parts(body) if part["type"] == "text")
    assert texts.index("A red house.") < texts.index("A blue house.")
    assert len(endpoint.bodies) == (3 if mode in ("refine", "accumulate") else 1)
    llm.close()


def test_a_template_that_shows_the_blocks_puts_each_picture_in_its_place() -> None:
    llm = ScriptedLLM("Red.")
    synthesizer = get_response_synthesizer(llm, multimodal=True, chat_content_qa_template=TEMPLATE)
    assert synthesizer.get_response_from_messages(QUESTION, MESSAGES) == "Red."
    system, user = llm.prompts[0]
    assert system.content == "Look closely."
    assert [block.block_type for block in user.blocks] == ["text", "image", "text", "image", "text"]
    assert "A red house." in user.blocks[0].text
    assert user.blocks[1].address == "https://pictures/house.png"
    assert user.blocks[-1].text.rstrip().endswith(f"Question: {QUESTION}")


def test_the_templates_for_messages_are_used_only_with_multimodal() -> None:
    for multimodal, system in ((True, "Look closely."), (False, "Answer the question")):
        llm = ScriptedLLM("Red.")
        mode = get_response_synthesizer(llm, multimodal=multimodal, chat_content_qa_template=TEMPLATE)
        mode.get_response_from_messages(QUESTION, MESSAGES)
        assert llm.prompts[0][0].content.startswith(system)


@pytest.mark.parametrize(("image_tokens", "calls"), [(10, 1), (400, 1), (600, 2)])
def test_a_picture_counts_what_the_helper_says(image_tokens: int, calls: int) -> None:
    llm = ScriptedLLM("Red.", context_window=1300)
    helper = ChatPromptHelper(context_window=1300, num_output=100, image_tokens=image_tokens)
    mode = get_response_synthesizer(llm, response_mode="compact_accumulate", multimodal=True, chat_prompt_helper=helper)
    mode.get_response_from_messages(QUESTION, MESSAGES[:2])
    assert len(llm.prompts) == calls
    assert sum(isinstance(block, ImageBlock) for prompt in llm.prompts for block in prompt[-1].blocks) == 2


def test_messages_are_packed_by_message_and_pictures_go_with_the_first_piece_of_theirs() -> None:
    helper = ChatPromptHelper(context_window=260, num_output=60, image_tokens=50)
    long = ChatMessage("user", blocks=[TextBlock("One sentence here. " * 40), ImageBlock(url="https://pictures/1.png")])
    packed = helper.repack(RichPromptTemplate("{{ context_str }}"), [long, MESSAGES[2]], llm=ScriptedLLM())
    pictures = [sum(isinstance(block, ImageBlock) for block in message.blocks) for message in packed]
    assert sum(pictures) == 1
    assert pictures[0] == 1
    assert "".join(message.content for message in packed).count("One sentence here.") == 40
    assert packed[-1].content.endswith("A blue house.")


def test_a_model_that_takes_only_text_is_refused() -> None:
    class Completing(ScriptedLLM):
        @property
        def metadata(self) -> Any:
            from dataclasses import replace

            return replace(super().metadata, is_chat_model=False)

    with pytest.raises(InvalidOption, match="is_chat_model"):
        get_response_synthesizer(Completing(), multimodal=True).get_response_from_messages(QUESTION, MESSAGES)
