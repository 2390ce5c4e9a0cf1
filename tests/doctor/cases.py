"""Everything a row can say, each with what was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from responsa.doctor.chat_checks import (
    check_json_schema,
    check_prompt_cache,
    check_reasoning,
    check_speed,
    check_streaming,
    check_window,
)
from responsa.doctor.chat_seen import ChatSeen, RolesSeen
from responsa.doctor.connection import (
    ServerSeen,
    check_address,
    check_key,
    check_loading,
    check_model,
    check_reachable,
)
from responsa.doctor.embedding_checks import EmbeddingSeen, check_dimension, check_prefix
from responsa.doctor.finding import Finding
from responsa.doctor.probing import IN_TEXT, StreamSeen
from responsa.doctor.servers import EmbeddingServer, IndexFacts
from responsa.doctor.template_checks import check_chat_template, check_template_echo
from responsa.llms.served import Served
from responsa.schema.completions import Finish, Timings, Usage
from responsa.schema.errors import (
    AuthenticationFailed,
    BadResponse,
    ModelNotFound,
    RateLimited,
    RequestRefused,
    ServerLoading,
    ServerTimeout,
    ServerUnreachable,
)

BASE = "http://127.0.0.1:8080/v1"
CHAT_URL = f"{BASE}/chat/completions"
LLAMA = Served("m", ("m",), n_ctx=4096, slots=2, is_llama_server=True)
OTHER = Served("m", ("m", "n"))
ANSWER = StreamSeen(
    "one, two, three",
    Finish("stop", Usage(200, 24, 0), Timings(0.5, 2.5, server_prompt=0.4, server_predicted=2.0)),
    arrivals=(0.5, 1.0, 1.5, 2.5),
)
BARE = EmbeddingServer(BASE)
LATE = ServerTimeout(BASE, 5.0)
REFUSED = RequestRefused(CHAT_URL, 400, "no such thing")


def server(served: Any = LLAMA, **changes: Any) -> ServerSeen:
    """Return what a good server said of itself, with changes."""
    return replace(ServerSeen(BASE, None, False, served), **changes)


def chat(served: Any = LLAMA, **changes: Any) -> ChatSeen:
    """Return what a good chat server answered, with changes."""
    cached = replace(ANSWER, finish=Finish("length", Usage(200, 1, 190)))
    seen = ChatSeen(
        server(served),
        template="{{ messages }}",
        roles=RolesSeen(),
        answer=ANSWER,
        again=cached,
        schema=replace(ANSWER, text='{"colour": "red"}'),
        echo=replace(ANSWER, text="Blue.\nuser: And another?"),
    )
    return replace(seen, **changes)


def told(text: str, reason: str = "stop", **changes: Any) -> StreamSeen:
    """Return an answer of some text."""
    return replace(ANSWER, text=text, finish=replace(ANSWER.finish, reason=reason), **changes)


def embedding(settings: EmbeddingServer = BARE, name: str = "multilingual-e5-small", **changes: Any) -> EmbeddingSeen:
    """Return what an embedding server answered that hears no difference between texts, with changes."""
    same = [0.6, 0.8]
    seen = EmbeddingSeen(
        server(OTHER), settings, name, query=same, passage=same, plain=same, told_query=same, told_passage=same
    )
    return replace(seen, **changes)


@dataclass(frozen=True)
class Case:
    """What was seen, and the row it makes."""

    make: Callable[[], Finding]
    status: str
    code: str


def _case(status: str, code: str, check: Callable[..., Finding], *seen: Any, **more: Any) -> Case:
    return Case(lambda: check(*seen, **more), status, code)


UNREACHABLE = ServerUnreachable(BASE, "refused")
V1_MISSING = ServerUnreachable(BASE, "no such address", "/v1 is missing")
NO_ROUTE = RequestRefused(CHAT_URL, 404, "File Not Found")
WRONG_KEY = AuthenticationFailed(BASE)

CONNECTION = [
    _case("ok", "answers", check_reachable, server(), None),
    _case("ok", "answers", check_reachable, server(WRONG_KEY), None),
    _case("ok", "answers", check_reachable, server(V1_MISSING), None),
    _case("ok", "answers", check_reachable, server(ServerLoading(BASE, 0.0)), None),
    _case("fault", "unreachable", check_reachable, server(UNREACHABLE), None),
    _case("fault", "silent", check_reachable, server(LATE), None),
    _case("fault", "fails", check_reachable, server(RequestRefused(BASE, 502, "bad gateway")), None),
    _case("warning", "rate_limited", check_reachable, server(RateLimited(BASE, 30.0)), None),
    _case("ok", "answers", check_reachable, server(Served()), ANSWER),
    _case("ok", "answers", check_reachable, server(), RequestRefused(CHAT_URL, 502, "bad gateway")),
    _case("fault", "fails", check_reachable, server(Served()), RequestRefused(CHAT_URL, 502, "bad gateway")),
    _case("not_checked", "not_checked", check_reachable, server(None), None),
    _case("ok", "loaded", check_loading, server(), ANSWER),
    _case("fault", "loading", check_loading, server(ServerLoading(BASE, 0.0)), None),
    _case("fault", "loading", check_loading, server(OTHER), ServerLoading(CHAT_URL, 0.0)),
    _case("not_checked", "not_checked", check_loading, server(UNREACHABLE), None),
    _case("ok", "right_address", check_address, server(), ANSWER),
    _case("ok", "right_address", check_address, server(OTHER, base="http://h/api"), ANSWER),
    _case("fault", "v1_missing", check_address, server(V1_MISSING), None),
    _case("warning", "v1_left_out", check_address, server(base="http://127.0.0.1:8080"), ANSWER),
    _case("fault", "other_server", check_address, server(BadResponse(BASE, "not JSON")), None),
    _case("fault", "no_such_address", check_address, server(Served()), NO_ROUTE),
    _case("not_checked", "not_checked", check_address, server(UNREACHABLE), None),
    _case("ok", "key_accepted", check_key, server(has_key=True), ANSWER),
    _case("ok", "no_key_needed", check_key, server(), ANSWER),
    _case("fault", "key_refused", check_key, server(WRONG_KEY, has_key=True), None),
    _case("fault", "key_refused", check_key, server(has_key=True), WRONG_KEY),
    _case("fault", "key_missing", check_key, server(WRONG_KEY), None),
    _case("not_checked", "not_checked", check_key, server(UNREACHABLE), None),
    _case("not_checked", "not_checked", check_key, server(), NO_ROUTE),
    _case("ok", "model_served", check_model, server()),
    _case("ok", "model_served", check_model, server(OTHER, model="n")),
    _case("fault", "model_not_listed", check_model, server(model="x", unknown=ModelNotFound(BASE, "x", ("m",)))),
    _case(
        "warning",
        "model_not_listed",
        check_model,
        server(model="x", unknown=ModelNotFound(BASE, "x", ("m",))),
        must_be_listed=False,
        answer=[1.0],
    ),
    _case(
        "fault",
        "model_not_listed",
        check_model,
        server(model="x", unknown=ModelNotFound(BASE, "x", ("m",))),
        must_be_listed=False,
        answer=ModelNotFound(BASE, "x"),
    ),
    _case("fault", "model_refused", check_model, server(Served()), answer=ModelNotFound(BASE, "x")),
    _case("warning", "no_models_listed", check_model, server(Served())),
    _case("warning", "several_models", check_model, server(OTHER)),
    _case("not_checked", "not_checked", check_model, server(UNREACHABLE)),
]

CHAT = [
    _case("ok", "window_served", check_window, chat()),
    _case("ok", "window_served", check_window, chat(window=4096)),
    _case("ok", "window_below_served", check_window, chat(window=4000)),
    _case("ok", "window_as_set", check_window, chat(OTHER, window=8192)),
    _case("fault", "window_above_served", check_window, chat(window=4097)),
    _case("warning", "window_small", check_window, chat(replace(LLAMA, n_ctx=512))),
    _case("warning", "window_unknown", check_window, chat(OTHER)),
    _case("not_checked", "not_checked", check_window, chat(UNREACHABLE)),
    _case("ok", "roles_accepted", check_chat_template, chat()),
    _case("ok", "roles_accepted", check_chat_template, chat(OTHER, template=None)),
    _case("warning", "roles_lost", check_chat_template, chat(roles=RolesSeen(lost=("system",)))),
    _case("warning", "roles_refused", check_chat_template, chat(roles=RolesSeen(("system",), message="no system"))),
    _case("fault", "messages_refused", check_chat_template, chat(roles=REFUSED)),
    _case("warning", "no_template", check_chat_template, chat(template="")),
    _case("warning", "wrong_template", check_chat_template, chat(answer=told("one<|im_end|>\n"))),
    _case("ok", "template_unused", check_chat_template, chat(is_chat_model=False, roles=None)),
    _case("warning", "time_up", check_chat_template, chat(roles=LATE)),
    _case("not_checked", "probe_failed", check_chat_template, chat(roles=BadResponse(BASE, "no JSON"))),
    _case("not_checked", "not_checked", check_chat_template, chat(template=None, roles=None)),
    _case("ok", "echo_if_completed", check_template_echo, chat()),
    _case("ok", "no_echo_if_completed", check_template_echo, chat(echo=told("Blue."))),
    _case("warning", "echo", check_template_echo, chat(is_chat_model=False)),
    _case("warning", "echo", check_template_echo, chat(is_chat_model=False, echo=told("Blue."))),
    _case("ok", "no_echo", check_template_echo, chat(OTHER, is_chat_model=False, template=None, echo=told("Blue."))),
    _case("ok", "no_completions", check_template_echo, chat(echo=NO_ROUTE)),
    _case("not_checked", "probe_failed", check_template_echo, chat(echo=BadResponse(BASE, "no chunk"))),
    _case("warning", "time_up", check_template_echo, chat(echo=LATE)),
    _case("not_checked", "not_checked", check_template_echo, chat(echo=None)),
    _case("ok", "no_reasoning", check_reasoning, chat()),
    _case(
        "ok",
        "reasoning_apart",
        check_reasoning,
        chat(answer=replace(ANSWER, reasoning="hm", reasoning_field="reasoning_content")),
    ),
    _case(
        "ok",
        "reasoning_in_text",
        check_reasoning,
        chat(answer=replace(ANSWER, reasoning="hm", reasoning_field=IN_TEXT)),
    ),
    _case(
        "ok",
        "reasoning_long",
        check_reasoning,
        chat(answer=replace(ANSWER, text="", reasoning="hm", reasoning_field=IN_TEXT)),
    ),
    _case("not_checked", "not_checked", check_reasoning, chat(answer=LATE)),
    _case("ok", "schema_enforced", check_json_schema, chat()),
    _case("ok", "schema_enforced", check_json_schema, chat(schema=told('{\n "colour":\n', "length"))),
    _case("warning", "schema_ignored", check_json_schema, chat(schema=told("The sea is wide."))),
    _case("warning", "schema_ignored", check_json_schema, chat(schema=told("The sea is", "length"))),
    _case("warning", "schema_ignored", check_json_schema, chat(schema=told('{"colour": "blue"}'))),
    _case("warning", "schema_ignored", check_json_schema, chat(schema=told('{"colour": "red", "sea": 1}'))),
    _case("warning", "schema_ignored", check_json_schema, chat(schema=told('["colour"]'))),
    _case("warning", "schema_refused", check_json_schema, chat(schema=REFUSED)),
    _case("warning", "schema_impossible", check_json_schema, chat(OTHER, is_chat_model=False, schema=None)),
    _case("not_checked", "schema_undecided", check_json_schema, chat(schema=told("", "length"))),
    _case("warning", "time_up", check_json_schema, chat(schema=LATE)),
    _case("warning", "probe_failed", check_json_schema, chat(schema=BadResponse(BASE, "no chunk"))),
    _case("not_checked", "not_checked", check_json_schema, chat(schema=None)),
    _case("not_checked", "not_checked", check_json_schema, chat(answer=LATE, schema=None)),
    _case("ok", "incremental", check_streaming, chat()),
    _case("warning", "in_one_piece", check_streaming, chat(answer=replace(ANSWER, arrivals=(2.5,)))),
    _case("warning", "in_one_piece", check_streaming, chat(answer=replace(ANSWER, arrivals=(2.5, 2.51, 2.52)))),
    _case(
        "not_checked",
        "answer_too_short",
        check_streaming,
        chat(answer=replace(ANSWER, arrivals=(0.5,), finish=Finish("stop", Usage(200, 2)))),
    ),
    _case("fault", "empty_answer", check_streaming, chat(answer=replace(ANSWER, text="", arrivals=()))),
    _case("fault", "no_answer", check_streaming, chat(answer=LATE)),
    _case("not_checked", "not_checked", check_streaming, chat(answer=None)),
    _case("ok", "speed", check_speed, chat()),
    _case(
        "ok", "speed", check_speed, chat(answer=replace(ANSWER, finish=Finish("stop"), arrivals=(0.1, 0.2, 0.3, 0.4)))
    ),
    _case(
        "warning",
        "slow",
        check_speed,
        chat(answer=replace(ANSWER, finish=Finish("stop", Usage(200, 24), Timings(server_predicted=12.0)))),
    ),
    _case("not_checked", "not_checked", check_speed, chat(answer=LATE)),
    _case("ok", "cache_hit", check_prompt_cache, chat()),
    _case(
        "warning",
        "cache_missed",
        check_prompt_cache,
        chat(again=replace(ANSWER, finish=Finish("stop", Usage(200, 1, 9)))),
    ),
    _case("not_checked", "cache_untold", check_prompt_cache, chat(again=replace(ANSWER, finish=Finish("stop")))),
    _case("warning", "time_up", check_prompt_cache, chat(again=LATE)),
    _case("not_checked", "not_checked", check_prompt_cache, chat(again=None)),
]

APART = {"query": [1.0, 0.0], "passage": [0.0, 1.0]}
TOLD_APART = {"told_query": [1.0, 0.0], "told_passage": [0.0, 1.0]}
PREFIXED = EmbeddingServer(BASE, query_prefix="query: ", text_prefix="passage: ")

EMBEDDING = [
    _case("ok", "dimension_alone", check_dimension, embedding()),
    _case("ok", "dimension_fits", check_dimension, embedding(index=IndexFacts("multilingual-e5-small", 2))),
    _case("fault", "index_of_other_model", check_dimension, embedding(index=IndexFacts("bge-m3", 2))),
    _case(
        "fault", "index_of_other_dimension", check_dimension, embedding(index=IndexFacts("multilingual-e5-small", 3))
    ),
    _case("fault", "dimensions_ignored", check_dimension, embedding(EmbeddingServer(BASE, dimensions=1))),
    _case("ok", "dimension_alone", check_dimension, embedding(EmbeddingServer(BASE, dimensions=2))),
    _case("fault", "no_vector", check_dimension, embedding(query=REFUSED)),
    _case("not_checked", "not_checked", check_dimension, embedding(query=None)),
    _case("warning", "prefix_missing", check_prefix, embedding()),
    _case("ok", "prefix_set", check_prefix, embedding(PREFIXED, **APART)),
    _case("warning", "prefix_wrong", check_prefix, embedding(replace(PREFIXED, query_prefix="search: "), **APART)),
    _case("ok", "told_apart_by_server", check_prefix, embedding(**APART)),
    _case("warning", "input_type_missing", check_prefix, embedding(plain=[1.0, 0.0], **TOLD_APART)),
    _case("ok", "told_apart_by_server", check_prefix, embedding(plain=[1.0, 0.0], **TOLD_APART, **APART)),
    _case("warning", "prefix_twice", check_prefix, embedding(PREFIXED, plain=[1.0, 0.0], **TOLD_APART, **APART)),
    _case("ok", "prefix_set", check_prefix, embedding(PREFIXED, plain=[0.6, 0.8], **TOLD_APART, **APART)),
    _case("ok", "no_prefix_known", check_prefix, embedding(name="bge-m3")),
    _case("warning", "prefix_missing", check_prefix, embedding(told_query=REFUSED, told_passage=REFUSED)),
    _case("warning", "time_up", check_prefix, embedding(passage=LATE)),
    _case("not_checked", "not_checked", check_prefix, embedding(query=REFUSED, passage=None)),
]

CASES = [*CONNECTION, *CHAT, *EMBEDDING]
