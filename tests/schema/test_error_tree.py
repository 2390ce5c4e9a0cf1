"""The error tree: stable codes, texts in two languages, numbers that survive a pickle."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Iterator

import pytest

from responsa.schema import errors
from responsa.schema.error_texts import ERROR_TEXTS, READING_REASONS
from responsa.schema.errors import (
    BadResponse,
    EmptyQuestion,
    InvalidOption,
    MissingExtra,
    RateLimited,
    ReadingFailed,
    ResponsaError,
    RunError,
    ServerUnreachable,
    StreamInterrupted,
    TemplateError,
    UnknownOption,
    UsageError,
    WindowTooSmall,
)

URL = "http://127.0.0.1:8080/v1"

# One of each class that is raised, with its stable code: a program may rely on these names.
EXAMPLES: list[tuple[str, ResponsaError]] = [
    ("empty_question", errors.EmptyQuestion()),
    ("question_too_long", errors.QuestionTooLong(40_000, 32_000)),
    ("unknown_option", errors.UnknownOption("temprature", "OpenAILike", ("temperature", "top_p"))),
    ("invalid_option", errors.InvalidOption("max_tokens", 0, "a number from 1")),
    ("missing_part", errors.MissingPart("an LLM", "Refine")),
    ("missing_argument", errors.MissingArgument("the question (query_str)", "Rerank")),
    ("missing_method", errors.MissingMethod("complete or stream_complete", "MyLLM")),
    ("missing_extra", errors.MissingExtra("lancedb", "local")),
    ("server_program_not_found", errors.ServerProgramNotFound("llama-server", "o/m:f.gguf")),
    ("window_too_small", errors.WindowTooSmall(300, (("fixed messages", 280), ("answer, at least", 48)))),
    ("window_above_served", errors.WindowAboveServed(8192, 4096)),
    ("streaming_not_supported", errors.StreamingNotSupported("accumulate")),
    ("template_error", errors.TemplateError("no messages")),
    ("unsafe_binding", errors.UnsafeBinding("0.0.0.0")),
    ("key_needed", errors.KeyNeeded("0.0.0.0")),
    ("invalid_request", errors.InvalidRequest(("question: it is missing", "top_k: it is no number"))),
    ("no_such_route", errors.NoSuchRoute("GET", "/v1/nothing")),
    ("body_too_large", errors.BodyTooLarge(4096)),
    ("key_not_accepted", errors.KeyNotAccepted()),
    ("scope_missing", errors.ScopeMissing("write")),
    ("origin_refused", errors.OriginRefused("https://elsewhere.example")),
    ("unknown_index", errors.UnknownIndex("manual", ("docs",))),
    ("index_not_made", errors.IndexNotMade("manual")),
    ("unknown_model", errors.UnknownModel("docs/fast", ("docs/compact",))),
    ("too_many_requests", errors.TooManyRequests(60, 60, 12)),
    ("answer_not_found", errors.AnswerNotFound("a1")),
    ("feedback_not_found", errors.FeedbackNotFound("f1")),
    ("document_not_found", errors.DocumentNotFound("d1")),
    ("document_refused", errors.DocumentRefused(("picture.png: a PNG picture",))),
    ("job_not_found", errors.JobNotFound("j1")),
    ("server_error", errors.ServerError(URL)),
    ("server_unreachable", errors.ServerUnreachable(URL, "connection refused", "Is it running?")),
    ("server_loading", errors.ServerLoading(URL, 30.0)),
    ("authentication_failed", errors.AuthenticationFailed(URL)),
    ("model_not_found", errors.ModelNotFound(URL, "qwen", ("smollm2", "llama"))),
    ("rate_limited", errors.RateLimited(URL, 2.5)),
    ("request_refused", errors.RequestRefused(URL, 400, "no such field")),
    ("context_window_exceeded", errors.ContextWindowExceeded(URL, 5000, 4096)),
    ("input_too_long", errors.InputTooLong(URL, 3, "Once upon", "too large to process.")),
    ("bad_response", errors.BadResponse(URL, "not JSON")),
    ("server_timeout", errors.ServerTimeout(URL, 60.0, silent=True)),
    ("stream_interrupted", errors.StreamInterrupted(URL, "Half an ans", "connection reset")),
    ("structured_output_failed", errors.StructuredOutputFailed("no object", "hello")),
    ("step_failed", errors.StepFailed("refine", "ValueError: no")),
    ("journal_incomplete", errors.JournalIncomplete("answer", "Where is it?")),
    ("call_budget_exceeded", errors.CallBudgetExceeded(1200, 1000)),
    ("does_not_converge", errors.DoesNotConverge(2, 9)),
    ("retrieval_failed", errors.RetrievalFailed("OSError: gone")),
    ("index_fault", errors.IndexFault("idx")),
    ("index_not_found", errors.IndexNotFound("idx")),
    ("index_empty", errors.IndexEmpty("idx")),
    ("index_damaged", errors.IndexDamaged("idx", "truncated")),
    ("index_version_mismatch", errors.IndexVersionMismatch("idx", "1", "2")),
    ("index_locked", errors.IndexLocked("idx")),
    ("index_not_writable", errors.IndexNotWritable("idx", "disk full")),
    ("embedder_not_given", errors.EmbedderNotGiven("idx", "bge-m3")),
    ("embedding_mismatch", errors.EmbeddingMismatch("idx", "e5", 384, "bge", 768)),
    ("chat_store_fault", errors.ChatStoreFault("chat.db")),
    ("chat_store_unavailable", errors.ChatStoreUnavailable("chat.db", "disk full")),
    ("chat_store_damaged", errors.ChatStoreDamaged("chat.db", "not a database")),
    ("chat_store_version_mismatch", errors.ChatStoreVersionMismatch("chat.db", "0009", "0001")),
    ("session_not_found", errors.SessionNotFound("chat.db", "anna")),
    ("message_not_found", errors.MessageNotFound("chat.db", "anna", "17")),
    ("embedding_failed", errors.EmbeddingFailed("no model")),
    ("reading_failed", errors.ReadingFailed("a.pdf", "it is a fish", "12")),
    ("local_server_failed", errors.LocalServerFailed("port in use")),
    ("model_fetch_failed", errors.ModelFetchFailed("smollm2", "no package")),
    ("queue_full", errors.QueueFull(64, 12)),
    ("session_busy", errors.SessionBusy(9)),
    ("jobs_full", errors.JobsFull(100, 100)),
    ("job_not_runnable", errors.JobNotRunnable("j1", "done")),
    ("records_unavailable", errors.RecordsUnavailable("service.db", "disk I/O error")),
    ("part_silent", errors.PartSilent(10.0)),
    ("answer_stopped", errors.AnswerStopped()),
    ("stream_too_slow", errors.StreamTooSlow(12)),
    ("service_ending", errors.ServiceEnding()),
    ("limits_unavailable", errors.LimitsUnavailable("/data/limits.db", "disk full")),
    ("internal_error", errors.InternalError()),
    ("keys_damaged", errors.KeysDamaged("keys.json", "not a list")),
    ("key_not_found", errors.KeyNotFound("0f3a")),
]
ABSTRACT = {ResponsaError, UsageError, RunError, errors.RequestError}
EACH = pytest.mark.parametrize("error", [error for _, error in EXAMPLES], ids=[code for code, _ in EXAMPLES])


# How advice begins.
ADVICE = re.compile(
    r"\b(?:Add|Allow|Ask|Change|Check|Correct|Define|Free|Give|Ingest|Install|Is it|Known|Leave|Make|Name|Put|Raise|"
    r"Read|Rebuild|Remove|Restore|Run|See|Send|Set|Shorten|Split|Start|Use|Wait|expected|give it|name|see to it|"
    r"see where|send|try again)\b"
)
ZH_ADVICE = re.compile(r"请|可用的有|应为|吗")


def descendants(cls: type[ResponsaError]) -> Iterator[type[ResponsaError]]:
    yield cls
    for child in cls.__subclasses__():
        yield from descendants(child)


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def choices(texts: str | tuple[str, ...]) -> tuple[str, ...]:
    """The texts of one language, the fullest first."""
    return (texts,) if isinstance(texts, str) else texts


def drawn_tree() -> dict[str, str]:
    """The tree at the head of errors.py: each class's name and its parent's."""
    parents: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        drawn = re.match(r"([│ ]*)([├└]── )?([A-Z]\w+)(?:\s{2,}|$)", line)
        if drawn is None:
            continue
        depth = len(drawn[1]) // 4 + bool(drawn[2])
        while path and path[-1][0] >= depth:
            path.pop()
        parents[drawn[3]] = path[-1][1] if path else ""
        path.append((depth, drawn[3]))
    return parents


def test_an_example_of_every_class_stands_in_this_table() -> None:
    assert {type(error) for _, error in EXAMPLES} == set(descendants(ResponsaError)) - ABSTRACT


@pytest.mark.parametrize(("code", "error"), EXAMPLES, ids=[code for code, _ in EXAMPLES])
def test_a_code_is_stable(code: str, error: ResponsaError) -> None:
    assert error.code == code


def test_there_is_a_text_for_every_code_and_none_without_one() -> None:
    assert set(ERROR_TEXTS) == {code for code, _ in EXAMPLES}


@EACH
def test_texts_are_in_both_languages_and_name_only_what_the_error_carries(error: ResponsaError) -> None:
    texts = ERROR_TEXTS[error.code]
    assert set(texts) == {"en", "zh"}
    in_english, in_chinese = (choices(texts[language]) for language in ("en", "zh"))
    assert [placeholders(text) for text in in_english] == [placeholders(text) for text in in_chinese]
    carried = set(error.details())
    assert all(placeholders(text) <= carried for text in in_english)


@EACH
def test_chinese_texts_are_chinese(error: ResponsaError) -> None:
    for text in choices(ERROR_TEXTS[error.code]["zh"]):
        said = re.sub(r"\{\w+\}|responsa [a-zA-Z -]+|pip install \S+", "", text)
        assert not re.search(r"[A-Za-z]{2,}(?: [A-Za-z]+){3,}", said)
        assert re.search(r"[\u4e00-\u9fff]", said) or not re.search(r"\w", said)


@EACH
def test_a_rendered_error_carries_its_numbers_and_leaves_no_placeholder(error: ResponsaError) -> None:
    for language in ("en", "zh"):
        shown = error.render(language)
        assert shown
        assert not placeholders(shown)
        for name in placeholders(choices(ERROR_TEXTS[error.code][language])[0]) - {"missing"}:  # a code with a text
            value = error.details()[name]
            parts = value if isinstance(value, tuple) else [f"{value:g}" if isinstance(value, float) else str(value)]
            assert all(part.rstrip(".") in shown for part in parts)
    assert str(error) == error.render("en")


# What says only that something happened, and leaves what to do to the reason it carries.
REASON_SAYS_WHAT_TO_DO = {"reading_failed"}


@EACH
def test_every_error_says_what_to_do(error: ResponsaError) -> None:
    if error.code not in REASON_SAYS_WHAT_TO_DO:
        for text in choices(ERROR_TEXTS[error.code]["en"]):
            assert ADVICE.search(text), text
        for text in choices(ERROR_TEXTS[error.code]["zh"]):
            assert ZH_ADVICE.search(text), text


@EACH
def test_an_error_pickles_and_copies_with_its_fields(error: ResponsaError) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert twin.details() == error.details()
        assert str(twin) == str(error)


def test_the_drawn_tree_is_the_tree_of_classes() -> None:
    real = {
        cls.__name__: next(base.__name__ for base in cls.__bases__ if issubclass(base, ResponsaError))
        for cls in descendants(ResponsaError)
        if cls is not ResponsaError
    }
    assert drawn_tree() == {"ResponsaError": "", **real}


@EACH
def test_every_error_is_either_the_callers_or_the_worlds(error: ResponsaError) -> None:
    assert isinstance(error, UsageError) != isinstance(error, RunError)


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (UnknownOption("a", "b"), TypeError),
        (InvalidOption("a", 1, "b"), ValueError),
        (TemplateError("a"), ValueError),
        (MissingExtra("a", "b"), ImportError),
    ],
)
def test_usage_errors_are_also_the_builtin_that_python_users_catch(error: Exception, builtin: type[Exception]) -> None:
    assert isinstance(error, builtin)


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (WindowTooSmall(300, (("fixed", 280), ("answer", 48))), "fixed 280; answer 48"),
        (UnknownOption("x", "Refine", ("a", "b")), "Known: a, b."),
        (UnknownOption("x", "Refine"), "Refine has no x. Leave it out."),
        (InvalidOption("model", "", "a name"), "model cannot be empty: expected a name."),
        (RateLimited(URL), "try again later"),
        (RateLimited(URL, 2.5), "try again in 2.5 s"),
        (errors.ContextWindowExceeded(URL, 5000, 4096), "counted 5000 tokens, its window has 4096."),
        (errors.ContextWindowExceeded(URL, None, 4096), "longer than its window of 4096 tokens."),
        (errors.ContextWindowExceeded(URL, 5000), "counted 5000 tokens, more than its window has."),
        (errors.ContextWindowExceeded(URL), "refused a prompt that is longer than its window."),
        (errors.ModelNotFound(URL, "qwen"), "serves no model named qwen. Leave the model out"),
        (errors.ModelNotFound(URL, ""), "does not serve this model."),
        (errors.RequestRefused(URL, 500, "it is Tuesday."), "(HTTP 500): it is Tuesday. Change"),
        (errors.RequestRefused(URL, 500), "(HTTP 500) and does not say why."),
        (errors.EmbeddingMismatch("idx", "e5", 384, "bge"), "not bge. Use"),
        (errors.ServerTimeout(URL, 60.0, silent=True), "gave no sign for 60 s"),
        (errors.ServerTimeout(URL, 60.0), "was not done after 60 s"),
        (errors.JournalIncomplete("tokens", "Where"), 'does not hold the tokens of "Where"'),
        (StreamInterrupted(URL, "12345", "reset"), "after 5 characters (reset)"),
        (StreamInterrupted(URL, "12345"), "after 5 characters; they"),
    ],
)
def test_numbers_and_lists_are_written_out_and_what_is_unknown_is_not(error: ResponsaError, part: str) -> None:
    assert part in str(error)
    assert "?" not in str(error).replace("Is it an OpenAI-compatible server?", "")
    assert "None" not in error.render("zh") + str(error)


def test_what_a_server_says_is_never_scanned_for_placeholders() -> None:
    assert "({hint} {url})" in str(ServerUnreachable("{reason}", "{hint} {url}", "hint"))
    assert str(BadResponse("u", "{url}")).startswith("The answer of u cannot be read: {url}.")


@pytest.mark.parametrize("reason", READING_REASONS)
def test_a_reading_reason_has_texts_in_both_languages_that_show_its_detail(reason: str) -> None:
    texts = READING_REASONS[reason]
    assert set(texts) == {"en", "zh"}
    assert placeholders(str(texts["en"])) == placeholders(str(texts["zh"])) <= {"detail"}
    for language, text in texts.items():
        shown = ReadingFailed("{reason}.pdf", reason, "{path}").render(language)
        assert str(text).replace("{detail}", "{path}") in shown
        assert "{reason}.pdf" in shown


def test_an_unknown_language_falls_back_to_english() -> None:
    assert EmptyQuestion().render("fr") == EmptyQuestion().render("en")
