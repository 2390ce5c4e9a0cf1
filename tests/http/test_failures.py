# ruff: noqa: E501 - error texts as servers wrote them
"""Every server's way of saying no becomes one of the package's errors, with its numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from responsa.http.failures import error_fields, failure_of_reply, status_of_error
from responsa.schema.errors import (
    AuthenticationFailed,
    ContextWindowExceeded,
    ModelNotFound,
    RateLimited,
    RequestRefused,
    ServerError,
    ServerLoading,
)

URL = "http://server/v1/chat/completions"


def failure(status: int, body: Any, **headers: str) -> ServerError:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return failure_of_reply(URL, status, headers, content).error


TOO_LONG = [
    ("llama-server", 400, {"message": "request (6030 tokens) exceeds the available context size (1024 tokens), try "
      "increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 6030, "n_ctx": 1024}, 6030, 1024),
    ("llama-server, numbers only in words", 400, {"message": "request (6030 tokens) exceeds the available context size "
      "(1024 tokens), try increasing it"}, 6030, 1024),
    ("llama-server, older", 400, {"message": "the request exceeds the available context size. try increasing the "
      "context size or enable context shift"}, None, None),
    ("vLLM", 400, {"message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
      "(4500 in the messages, 500 in the completion). Please reduce the length."}, 4500, 4096),
    ("vLLM, newer", 400, {"message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096. "
      "Make sure that `max_model_len` is no smaller than the number of text tokens."}, 5000, 4096),
    ("vLLM, answer too long", 400, {"message": "'max_tokens' or 'max_completion_tokens' is too large: 500. This model's "
      "maximum context length is 4096 tokens and your request has 3900 input tokens (500 > 4096 - 3900)."}, 3900, 4096),
    ("OpenAI", 400, {"message": "This model's maximum context length is 8192 tokens. However, your messages resulted in "
      "10,000 tokens. Please reduce the length of the messages.", "code": "context_length_exceeded"}, 10000, 8192),
    ("OpenAI, code alone", 400, {"message": "Too much.", "code": "context_length_exceeded"}, None, None),
    ("SGLang", 400, {"message": "The input (5000 tokens) is longer than the model's context length (4096 tokens)."},
      5000, 4096),
    ("SGLang, sum", 400, {"message": "Requested token count exceeds the model's maximum context length of 4096 tokens. "
      "You requested a total of 5000 tokens: 4000 tokens from the input messages and 1000 tokens for the completion."},
      4000, 4096),
    ("LM Studio", 400, {"message": "Trying to keep the first 6030 tokens when context the overflows. However, the model "
      "is loaded with context length of only 4096 tokens, which is not enough."}, 6030, 4096),
    ("LM Studio, older", 400, {"message": "The number of tokens to keep from the initial prompt is greater than the "
      "context length (n_keep: 6030>= n_ctx: 4096). Try to load the model with a larger context length."}, 6030, 4096),
    ("llama-cpp-python", 400, {"message": "This model's maximum context length is 512 tokens. However, you requested 900 "
      "tokens (884 in the messages, 16 in the completion)."}, 884, 512),
    ("TGI", 422, {"message": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 "
      "`inputs` tokens and 20 `max_new_tokens`"}, 5000, 4096),
    ("Mistral", 400, {"message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum "
      "context length"}, 40000, 32768),
    ("Anthropic", 400, {"message": "prompt is too long: 210000 tokens > 200000 maximum"}, 210000, 200000),
    ("Ollama", 400, {"message": "the input length exceeds the context length"}, None, None),
]  # fmt: skip


@pytest.mark.parametrize(("status", "error", "tokens", "window"), [row[1:] for row in TOO_LONG],
                         ids=[row[0] for row in TOO_LONG])  # fmt: skip
def test_too_long_a_prompt_is_told_from_every_servers_wording(
    status: int, error: dict[str, Any], tokens: int | None, window: int | None
) -> None:
    found = failure(status, {"error": error})
    assert isinstance(found, ContextWindowExceeded)
    assert (found.n_prompt_tokens, found.n_ctx) == (tokens, window)
    assert not failure_of_reply(URL, status, {}, json.dumps({"error": error}).encode()).retryable


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": "Invalid API Key", "type": "authentication_error", "code": 401}}, AuthenticationFailed),
        (403, {"detail": "Forbidden"}, AuthenticationFailed),
        (404, {"error": {"message": "File Not Found", "type": "not_found_error", "code": 404}}, RequestRefused),
        (404, {"object": "error", "message": "The model `x` does not exist.", "code": 404}, ModelNotFound),
        (404, {"error": {"message": "gone", "code": "model_not_found"}}, ModelNotFound),
        (404, {"error": 'model "x" not found, try pulling it first'}, ModelNotFound),
        (429, {"error": {"message": "slow down"}}, RateLimited),
        (503, {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}, ServerLoading),
        (503, {"error": "overloaded"}, RequestRefused),
        (400, {"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}, RequestRefused),
        (500, b"<html>Internal Server Error</html>", RequestRefused),
        (500, b"\xff\xfe\x00", RequestRefused),
        (502, b"", RequestRefused),
        (400, b"[" * 100_000, RequestRefused),
        (400, [1, 2], RequestRefused),
        (400, {"error": None}, RequestRefused),
        (400, {"error": {"message": None}}, RequestRefused),
    ],
)  # fmt: skip
def test_each_reply_becomes_its_error(status: int, body: Any, kind: type[ServerError]) -> None:
    found = failure(status, body)
    assert type(found) is kind
    assert found.url == URL
    assert found.render("zh") != found.render("en")


@pytest.mark.parametrize(
    "error",
    [
        {"message": f"maximum context length is {'9' * 1500} tokens"},
        {"code": "context_length_exceeded", "message": "", "n_ctx": 10**400, "n_prompt_tokens": -1},
    ],
)
def test_a_window_that_is_no_number_to_calculate_with_is_unknown(error: dict[str, Any]) -> None:
    found = failure(400, {"error": error})
    assert isinstance(found, ContextWindowExceeded)
    assert (found.n_prompt_tokens, found.n_ctx) == (None, None)


def test_the_models_name_is_read_from_the_message() -> None:
    found = failure(404, {"error": {"message": "The model `qwen` does not exist."}})
    assert isinstance(found, ModelNotFound)
    assert found.model == "qwen"


def test_an_embedding_server_that_refuses_a_long_text_is_not_asked_again() -> None:
    body = b'{"error":{"code":500,"message":"input (702 tokens) is too large to process. increase the physical batch"}}'
    assert not failure_of_reply(URL, 500, {}, body).retryable


@pytest.mark.parametrize("error", [{"message": "x" * 100_000}, "x" * 100_000])
def test_a_long_message_is_cut(error: Any) -> None:
    found = failure(400, {"error": error})
    assert isinstance(found, RequestRefused)
    assert len(found.message) <= 2000


@pytest.mark.parametrize(
    ("error", "status"),
    [({"code": 400}, 400), ({"code": "429"}, 429), ({"status": 503}, 503), ({"code": "overloaded"}, 500), ({}, 500),
     ({"code": 200}, 500), ({"code": True}, 500)],
)  # fmt: skip
def test_an_error_inside_a_stream_has_the_status_it_names(error: dict[str, Any], status: int) -> None:
    assert status_of_error(error) == status


@pytest.mark.parametrize("value", [None, 3, "text", [], {"error": "text"}, {"error": {"message": "text"}}])
def test_an_error_of_any_shape_has_a_text(value: Any) -> None:
    assert isinstance(error_fields(value)[1], str)


@pytest.mark.parametrize("status", [302, 400, 500])
def test_a_key_that_the_server_repeats_is_not_told(status: int) -> None:
    key = "sk-0123456789"
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}."}}).encode()
    error = failure_of_reply(URL, status, {"location": f"https://other/?key={key}"}, body, key).error
    assert isinstance(error, RequestRefused)
    assert "(hidden)" in error.message
    assert key not in f"{error} {error!r} {error.details()}"


def test_a_word_given_in_place_of_a_key_is_left_in_messages() -> None:
    error = failure_of_reply(URL, 400, {}, b'{"error":"none of them fits"}', "none").error
    assert "none of them fits" in str(error)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_names_the_address_and_is_not_followed(status: int) -> None:
    failure = failure_of_reply(URL, status, {"location": "https://other/v1/models"}, b"")
    assert isinstance(failure.error, RequestRefused)
    assert "redirects to https://other/v1/models" in str(failure.error)
    assert not failure.retryable
