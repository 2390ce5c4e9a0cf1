"""One's own model needs `complete` or `stream_complete`, and everything else follows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from tests.llms.both import QUESTION, Both, both

from responsa.llms import CompletionResponse, CustomLLM
from responsa.llms.responses import CompletionResponseGen
from responsa.schema.completions import Completion, Delta, Finish, LLMMetadata, Sampling, Usage
from responsa.schema.errors import MissingMethod
from responsa.schema.messages import ChatMessage


class Base(CustomLLM):
    def __init__(self) -> None:
        self.calls: list[tuple[str, bool, dict[str, Any]]] = []
        self.threads: set[int] = set()

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100)


class Completes(Base):
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.calls.append((prompt, formatted, kwargs))
        self.threads.add(threading.get_ident())
        return CompletionResponse("Paris.")


class Streams(Base):
    """Gives the text so far without saying what each step adds, as LlamaIndex's example does."""

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        self.calls.append((prompt, formatted, kwargs))
        self.threads.add(threading.get_ident())
        text = ""
        for piece in ("Pa", "ris", "."):
            text += piece
            yield CompletionResponse(text)


class StreamsDeltas(Base):
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        for piece in ("Pa", "", "ris."):
            yield CompletionResponse("ignored", delta=piece)
        yield CompletionResponse("", delta="", raw=Completion("Paris.", finish_reason="length", usage=Usage(1, 2)))


@both
@pytest.mark.parametrize(
    ("llm", "pieces", "reason"),
    [
        (Completes(), ["Paris."], "stop"),
        (Streams(), ["Pa", "ris", "."], "stop"),
        (StreamsDeltas(), ["Pa", "ris."], "length"),
    ],
    ids=["complete", "stream", "deltas"],
)
def test_either_method_is_enough(llm: Any, pieces: list[str], reason: str, side: Both) -> None:
    *deltas, finish = side.items(llm)
    assert [delta.text for delta in deltas if isinstance(delta, Delta)] == pieces
    assert isinstance(finish, Finish)
    assert finish.reason == reason
    assert side.call(llm, "complete", "Where?").text == "Paris."
    assert side.call(llm, "chat", QUESTION).message.content == "Paris."


@both
def test_the_method_gets_the_prompt_and_what_is_set(side: Both) -> None:
    llm = Completes()
    side.items(llm, [ChatMessage("system", "S"), ChatMessage("user", "U")], Sampling(max_tokens=3, stop=("x",)))
    assert llm.calls == [("system: S\nuser: U\nassistant: ", True, {"max_tokens": 3, "stop": ("x",)})]


@pytest.mark.parametrize("llm", [Completes(), Streams()], ids=["complete", "stream"])
def test_the_event_loop_is_not_blocked_by_a_blocking_model(llm: Any) -> None:
    async def main() -> int:
        assert [item async for item in llm.astream(QUESTION, Sampling())]
        await llm.acomplete("x")
        return threading.get_ident()

    assert asyncio.run(main()) not in llm.threads


def test_closing_a_stream_closes_the_model_s_own() -> None:
    closed: list[bool] = []

    class Endless(Base):
        def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
            try:
                while True:
                    yield CompletionResponse("", delta="a")
            finally:
                closed.append(True)

    async def main() -> None:
        items = Endless().astream(QUESTION, Sampling())
        await anext(items)
        await items.aclose()

    items = Endless().stream(QUESTION, Sampling())
    next(items)
    items.close()
    asyncio.run(main())
    assert closed == [True, True]


def test_a_cancelled_stream_waits_for_the_step_that_is_being_made() -> None:
    begun, release = threading.Event(), threading.Event()

    class Slow(Base):
        def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
            begun.set()
            release.wait(30)
            yield CompletionResponse("", delta="a")

    async def main() -> None:
        task = asyncio.ensure_future(anext(Slow().astream(QUESTION, Sampling())))
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        await asyncio.sleep(0)
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_a_model_with_neither_method_says_what_is_missing() -> None:
    with pytest.raises(MissingMethod) as caught:
        Base().complete("x")
    assert caught.value.owner == "Base"


def test_tokens_are_estimated_and_prompts_with_room_for_the_template() -> None:
    llm = Completes()
    messages: Sequence[ChatMessage] = QUESTION
    (words,) = llm.count_tokens(["Where?"])
    assert llm.count_prompts([messages])[0] > words
    assert asyncio.run(llm.acount_prompts([messages])) == llm.count_prompts([messages])
