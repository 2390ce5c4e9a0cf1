"""An object is got from any server: each way is tried in turn, and the one that works is remembered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from tests.faults import PATIENCE, FaultServer, answer_of, delta, reply, stream_of
from tests.llms.both import QUESTION, Both, both

from responsa.llms.json_in_text import parse_json
from responsa.llms.openai_like import OpenAILike
from responsa.llms.structured import closed
from responsa.prompts.templates import PromptTemplate
from responsa.schema.completions import Sampling
from responsa.schema.errors import InvalidOption, RequestRefused, StructuredOutputFailed
from responsa.schema.messages import ChatMessage

CHAT = "POST /v1/chat/completions"
SCHEMA = {"title": "City of", "type": "object", "properties": {"name": {"type": "string"}}}
ASK = Sampling(output_schema=SCHEMA)
GOOD = answer_of('{"name": "Paris"}')
REFUSED = reply({"error": {"message": "unknown field response_format", "type": "invalid_request_error"}}, 400)


class City(BaseModel):
    name: str
    people: int


@pytest.fixture
def make(faults: FaultServer) -> Iterator[Any]:
    made: list[OpenAILike] = []

    def of(**options: Any) -> OpenAILike:
        made.append(OpenAILike(api_base=faults.url, timeout=PATIENCE, max_retries=0, **options))
        return made[-1]

    yield of
    for llm in made:
        llm.close()


WAYS = {
    "response_format": "json_schema",
    "json_schema": "grammar",
    "structured_outputs": "grammar",
    "tools": "function",
}


def way_of(body: dict[str, Any]) -> str:
    for field, way in WAYS.items():
        if field in body:
            return way
    return "prompt" if "JSON schema" in body["messages"][-1]["content"] else "none"


def ways(faults: FaultServer) -> list[str]:
    return [way_of(request.json) for request in faults.requests(CHAT)]


def llama_like(faults: FaultServer) -> None:
    faults.on("GET /v1/models", reply({"data": [{"id": "m", "owned_by": "llamacpp"}]}))


@both
def test_a_server_that_takes_a_json_schema_is_asked_for_nothing_else(
    faults: FaultServer, make: Any, side: Both
) -> None:
    faults.on(CHAT, GOOD)
    side.items(make(strict=True), QUESTION, ASK)
    (request,) = faults.requests(CHAT)
    assert request.json["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "City_of", "schema": {**SCHEMA, "additionalProperties": False}, "strict": True},
    }
    assert request.json["messages"] == [{"role": "user", "content": "Where?"}]


@both
def test_refused_ways_are_passed_over_and_not_tried_in_the_next_call(
    faults: FaultServer, make: Any, side: Both
) -> None:
    llama_like(faults)
    faults.on(CHAT, REFUSED, REFUSED, REFUSED, GOOD)
    llm = make(is_function_calling_model=True)
    for _ in range(2):
        side.items(llm, QUESTION, ASK)
    assert ways(faults) == ["json_schema", "grammar", "function", "prompt", "prompt"]


@both
def test_a_way_that_is_taken_but_not_kept_to_is_given_up(faults: FaultServer, make: Any, side: Both) -> None:
    llama_like(faults)
    faults.on(CHAT, answer_of("It is ", "Paris."), answer_of('{"name": '), GOOD)
    llm = make()
    for _ in range(4):
        side.items(llm, QUESTION, ASK)
    assert ways(faults) == ["json_schema", "grammar", "prompt", "prompt"]


def test_an_object_that_is_cut_says_nothing_against_its_way(faults: FaultServer, make: Any) -> None:
    faults.on(CHAT, answer_of('{"name": ', reason="length"))
    llm = make()
    for _ in range(2):
        list(llm.stream(QUESTION, ASK))
    assert ways(faults) == ["json_schema", "json_schema"]


@both
def test_a_request_that_is_wrong_in_itself_is_refused_in_every_way_and_teaches_nothing(
    faults: FaultServer, make: Any, side: Both
) -> None:
    faults.on(CHAT, REFUSED, REFUSED, GOOD)
    llm = make()
    with pytest.raises(RequestRefused):
        side.items(llm, QUESTION, ASK)
    side.items(llm, QUESTION, ASK)
    assert ways(faults) == ["json_schema", "prompt", "json_schema"]


@both
def test_the_arguments_of_the_called_function_are_the_answer(faults: FaultServer, make: Any, side: Both) -> None:
    call = delta(None, tool_calls=[{"index": 0, "function": {"name": "f", "arguments": '{"name": "Paris"}'}}])
    faults.on(CHAT, REFUSED, stream_of(call, delta(reason="tool_calls")))
    llm = make(is_function_calling_model=True)
    assert "".join(item.text for item in side.items(llm, QUESTION, ASK)[:-1]) == '{"name": "Paris"}'  # type: ignore[union-attr]
    request = faults.requests(CHAT)[1].json
    assert request["tools"][0]["function"]["parameters"] == closed(SCHEMA)
    assert request["tool_choice"]["function"]["name"] == request["tools"][0]["function"]["name"]


def test_the_schema_in_words_goes_into_the_last_message(faults: FaultServer, make: Any) -> None:
    faults.on(CHAT, REFUSED, GOOD)
    messages = [ChatMessage("system", "S"), *QUESTION]
    list(make().stream(messages, ASK))
    sent = faults.requests(CHAT)[1].json["messages"]
    assert [one["role"] for one in sent] == ["system", "user"]
    assert sent[1]["content"].startswith("Where?")
    assert json.dumps(SCHEMA, separators=(",", ":")) in sent[1]["content"]
    assert messages[1].content == "Where?"


PROMPT = PromptTemplate("Tell me of {city}.")


@both
def test_structured_predict_returns_an_object(faults: FaultServer, make: Any, side: Both) -> None:
    faults.on(CHAT, answer_of('{"name": "Paris", ', '"people": 2}'))
    city = side.call(make(), "structured_predict", City, PROMPT, {"max_tokens": 9}, city="Paris")
    assert city == City(name="Paris", people=2)
    body = faults.requests(CHAT)[0].json
    assert (body["messages"][0]["content"], body["max_tokens"]) == ("Tell me of Paris.", 9)


@both
@pytest.mark.parametrize("first", ["It is Paris.", '{"name": "Paris"}', '{"name": "Paris", "people": "many"}', ""])
def test_an_answer_of_another_form_is_given_back_once(faults: FaultServer, make: Any, side: Both, first: str) -> None:
    faults.on(CHAT, answer_of(first), answer_of('```json\n{"name": "Paris", "people": 2}\n```'))
    assert side.call(make(), "structured_predict", City, PROMPT, city="Paris").people == 2
    sent = faults.requests(CHAT)[1].json["messages"]
    assert [one["role"] for one in sent] == ["user", "assistant", "user"]


@both
def test_an_answer_that_stays_of_another_form_is_an_error_with_the_text(
    faults: FaultServer, make: Any, side: Both
) -> None:
    faults.on(CHAT, answer_of('{"name": "Paris"}'))
    with pytest.raises(StructuredOutputFailed) as caught:
        side.call(make(), "structured_predict", City, PROMPT, city="Paris")
    assert "people" in caught.value.reason
    assert (caught.value.text, faults.count(CHAT)) == ('{"name": "Paris"}', 2)


@both
def test_an_object_cut_by_the_token_limit_is_an_error_that_says_so(faults: FaultServer, make: Any, side: Both) -> None:
    faults.on(CHAT, answer_of('{"name": "Par', reason="length"))
    with pytest.raises(StructuredOutputFailed) as caught:
        side.call(make(), "structured_predict", City, PROMPT, city="Paris")
    assert "max_tokens" in caught.value.reason
    assert faults.count(CHAT) == 1


def test_a_class_that_is_no_model_of_objects_is_refused(make: Any) -> None:
    with pytest.raises(InvalidOption):
        make().structured_predict(dict, PROMPT, city="x")


@both
def test_predict_fills_a_template(faults: FaultServer, make: Any, side: Both) -> None:
    faults.on(CHAT, answer_of("Nice."))
    assert side.call(make(), "predict", PROMPT, city="Paris") == "Nice."
    assert faults.requests(CHAT)[0].json["messages"][0]["content"] == "Tell me of Paris."


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (' [1, 2]\n', [1, 2]),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Here it is: {"a": {"b": "}"}} and more {', {"a": {"b": "}"}}),
        ('{not} {"a": 1}', {"a": 1}),
    ],
)  # fmt: skip
def test_json_is_found_in_a_fence_or_among_words(text: str, value: Any) -> None:
    assert parse_json(text) == value


@pytest.mark.parametrize(
    "text", ['As [1] says: {"a": [1]}', '[2] ```json\n{"a": [1]}\n```', '{"a": [1]} as in [1]', '[{"a": [1]}]']
)
def test_where_an_object_is_meant_brackets_among_the_words_are_passed_over(text: str) -> None:
    assert parse_json(text, only_objects=True) == {"a": [1]}


@pytest.mark.parametrize("text", ["[1]", "3", "no [1] object", '"{"'])
def test_where_an_object_is_meant_nothing_else_will_do(text: str) -> None:
    with pytest.raises(StructuredOutputFailed):
        parse_json(text, only_objects=True)


@pytest.mark.parametrize("text", ["", "words", "{", "[" * 100_000, "{" * 100_000])
def test_where_there_is_no_json_it_says_so(text: str) -> None:
    with pytest.raises(StructuredOutputFailed):
        parse_json(text)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"type": "object"}, {"type": "object"}),
        ({"properties": {"a": {"properties": {}}}},
         {"properties": {"a": {"properties": {}, "additionalProperties": False}}, "additionalProperties": False}),
        ({"properties": {"properties": {}, "default": {}}},
         {"properties": {"properties": {}, "default": {}}, "additionalProperties": False}),
        ({"properties": {}, "additionalProperties": True}, {"properties": {}, "additionalProperties": True}),
        ({"$defs": {"x": {"properties": {}}}, "anyOf": [{"properties": {}}]},
         {"$defs": {"x": {"properties": {}, "additionalProperties": False}},
          "anyOf": [{"properties": {}, "additionalProperties": False}]}),
        ({"default": {"properties": {}}}, {"default": {"properties": {}}}),
    ],
)  # fmt: skip
def test_objects_have_no_fields_but_those_the_schema_names(schema: Any, expected: Any) -> None:
    before = json.dumps(schema)
    assert closed(schema) == expected
    assert json.dumps(schema) == before
