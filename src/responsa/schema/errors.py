"""Every error of the package, in one tree.

ResponsaError
├── UsageError                    the call was wrong; a program exits with 2
│   ├── EmptyQuestion
│   ├── QuestionTooLong           n_characters, limit
│   ├── UnknownOption             name, owner, known
│   ├── InvalidOption             name, value, expected
│   ├── MissingPart               part, owner
│   ├── MissingArgument           argument, owner
│   ├── MissingMethod             methods, owner
│   ├── MissingExtra              feature, extra
│   ├── ServerProgramNotFound     program, model
│   ├── WindowTooSmall            table of the planner's numbers
│   ├── WindowAboveServed         asked, served
│   ├── StreamingNotSupported     mode
│   ├── TemplateError             reason
│   ├── UnsafeBinding             host
│   ├── KeyNeeded                 host
│   └── RequestError              the service refuses a request
│       ├── InvalidRequest        faults
│       ├── NoSuchRoute           method, route
│       ├── BodyTooLarge          limit
│       ├── KeyNotAccepted
│       ├── ScopeMissing          scope
│       ├── OriginRefused         origin
│       ├── UnknownIndex          name, known
│       ├── IndexNotMade          name
│       ├── UnknownModel          name, known
│       ├── TooManyRequests       limit, seconds, retry_after
│       ├── AnswerNotFound        answer_id
│       ├── FeedbackNotFound      feedback_id
│       ├── DocumentNotFound      document_id
│       ├── DocumentRefused       faults
│       └── JobNotFound           job_id
└── RunError                      the world failed; a program exits with 1
    ├── ServerError               url
    │   ├── ServerUnreachable     url, reason, hint
    │   ├── ServerLoading         url, waited
    │   ├── AuthenticationFailed  url
    │   ├── ModelNotFound         url, model, served
    │   ├── RateLimited           url, retry_after
    │   ├── RequestRefused        url, status, message
    │   ├── ContextWindowExceeded  url, n_prompt_tokens, n_ctx
    │   ├── InputTooLong          url, position, excerpt, message
    │   ├── BadResponse           url, reason
    │   ├── ServerTimeout         url, seconds, silent
    │   └── StreamInterrupted     url, text_so_far, reason
    ├── StructuredOutputFailed    reason, text
    ├── StepFailed                stage, reason
    ├── JournalIncomplete         missing, excerpt
    ├── CallBudgetExceeded        planned, limit
    ├── DoesNotConverge           level, packs
    ├── RetrievalFailed           reason
    ├── IndexFault                path
    │   ├── IndexNotFound         path
    │   ├── IndexEmpty            path
    │   ├── IndexDamaged          path, reason
    │   ├── IndexVersionMismatch  path, found, expected
    │   ├── IndexLocked           path
    │   ├── IndexNotWritable      path, reason
    │   ├── EmbedderNotGiven      path, index_model
    │   └── EmbeddingMismatch     path, index_model, index_dimensions, given_model, given_dimensions
    ├── ChatStoreFault            location
    │   ├── ChatStoreUnavailable  location, reason
    │   ├── ChatStoreDamaged      location, reason
    │   ├── ChatStoreVersionMismatch  location, found, expected
    │   ├── SessionNotFound       location, session
    │   └── MessageNotFound       location, session, message
    ├── EmbeddingFailed           reason
    ├── ReadingFailed             path, reason, detail
    ├── LocalServerFailed         reason
    ├── ModelFetchFailed          name, reason
    ├── QueueFull                 waiting, retry_after
    ├── SessionBusy               waiting
    ├── JobsFull                  waiting, limit
    ├── JobNotRunnable            job_id, state
    ├── RecordsUnavailable        path, reason
    ├── PartSilent                seconds
    ├── AnswerStopped
    ├── StreamTooSlow             count
    ├── ServiceEnding             retry_after
    ├── LimitsUnavailable         path, reason
    ├── InternalError
    ├── KeysDamaged               path, reason
    └── KeyNotFound               key_id

Each class names its own numbers; the sentences, in English and Chinese, stand in `error_texts` by code. Where a number
may be unknown there are several, and the first is taken that names only what is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from .error_texts import ERROR_TEXTS, JOURNAL_PARTS, READING_REASONS, Translations
from .substitution import names_in, substitute

# Fields that hold what someone else says, with or without a full stop.
OTHERS_SENTENCES: Final = ("reason", "message")


class ResponsaError(Exception):
    """The root of every error this package raises."""

    @property
    def code(self) -> str:
        """A stable name for programs, such as `server_unreachable`."""
        name = type(self).__name__
        return "".join("_" + char.lower() if char.isupper() else char for char in name).lstrip("_")

    def render(self, language: str = "en") -> str:
        """Say what happened and what to do, in "en" or "zh"."""
        return _filled(ERROR_TEXTS[self.code], self.details(), language)

    def details(self) -> dict[str, Any]:
        """Return the error's own numbers and names."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.render()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


def _filled(texts: Translations, values: Mapping[str, object], language: str) -> str:
    """Fill the first of a language's texts that names only what is known; the last may name anything."""
    in_language = texts.get(language, texts["en"])
    choices = (in_language,) if isinstance(in_language, str) else in_language
    unknown = {name for name, value in values.items() if value is None or value in ("", (), [])}
    text = next((text for text in choices if unknown.isdisjoint(names_in(text))), choices[-1])
    return substitute(text, {name: _shown(name, value) for name, value in values.items()}).strip()


def _shown(name: str, value: object) -> str:
    if name in OTHERS_SENTENCES:
        return str(value).rstrip(" .。")  # the text itself ends the sentence
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


class UsageError(ResponsaError):
    """What was asked for cannot be done as it was asked."""


class RunError(ResponsaError):
    """Something outside the call failed."""


@dataclass(eq=False)
class EmptyQuestion(UsageError):
    """The question has no characters but white space."""


@dataclass(eq=False)
class QuestionTooLong(UsageError):
    """The question is longer than any question is."""

    n_characters: int
    limit: int


@dataclass(eq=False)
class UnknownOption(UsageError, TypeError):
    """A keyword or name that its owner does not have."""

    name: str
    owner: str
    known: tuple[str, ...] = ()


@dataclass(eq=False)
class InvalidOption(UsageError, ValueError):
    """A value outside what a keyword takes."""

    name: str
    value: Any
    expected: str


@dataclass(eq=False)
class MissingPart(UsageError):
    """Something needed, such as an LLM, was neither given nor set on `Settings`."""

    part: str
    owner: str


@dataclass(eq=False)
class MissingArgument(UsageError, TypeError):
    """Something that only the call itself can give was not given."""

    argument: str
    owner: str


@dataclass(eq=False)
class MissingMethod(UsageError, TypeError):
    """A class of one's own does not define what its base asks for."""

    methods: str
    owner: str


@dataclass(eq=False)
class MissingExtra(UsageError, ImportError):
    """A feature's packages are not installed."""

    feature: str
    extra: str


@dataclass(eq=False)
class ServerProgramNotFound(UsageError):
    """There is no such llama-server program, which alone could load the model."""

    program: str
    model: str


@dataclass(eq=False)
class WindowTooSmall(UsageError):
    """The fixed parts of a prompt leave no room for context.

    `table` names every part and its tokens, `window` the whole.
    """

    window: int
    table: tuple[tuple[str, int], ...] = ()

    def details(self) -> dict[str, Any]:
        """Return the window and the table as one line."""
        return {"window": self.window, "table": "; ".join(f"{name} {tokens}" for name, tokens in self.table)}


@dataclass(eq=False)
class WindowAboveServed(UsageError):
    """The configured window is larger than the server's."""

    asked: int
    served: int


@dataclass(eq=False)
class StreamingNotSupported(UsageError, ValueError):
    """The mode has no single text to stream."""

    mode: str


@dataclass(eq=False)
class TemplateError(UsageError, ValueError):
    """A prompt template cannot be read or filled."""

    reason: str


@dataclass(eq=False)
class UnsafeBinding(UsageError):
    """The service was to listen without keys where others than this machine can reach it."""

    host: str


@dataclass(eq=False)
class KeyNeeded(UsageError):
    """The service was to listen where others than this machine can reach it, and no key has been made."""

    host: str


class RequestError(UsageError):
    """The service refuses a request."""


@dataclass(eq=False)
class InvalidRequest(RequestError):
    """A request's body or parameters are not as they must be; a fault names the field and what is wrong with it."""

    faults: tuple[str, ...]


@dataclass(eq=False)
class NoSuchRoute(RequestError):
    """The service has nothing at that path, or nothing for that method."""

    method: str
    route: str


@dataclass(eq=False)
class BodyTooLarge(RequestError):
    """A request's body has more bytes than are read."""

    limit: int


@dataclass(eq=False)
class KeyNotAccepted(RequestError):
    """A request came without a key, or with one that is not known or was revoked."""


@dataclass(eq=False)
class ScopeMissing(RequestError):
    """A request came with a key that is not made for it."""

    scope: str


@dataclass(eq=False)
class OriginRefused(RequestError):
    """A request came from a web page of another address, or under a name that is not this service's."""

    origin: str


@dataclass(eq=False)
class UnknownIndex(RequestError):
    """The service has no index of that name."""

    name: str
    known: tuple[str, ...] = ()


@dataclass(eq=False)
class IndexNotMade(RequestError):
    """An index of the service has no documents yet."""

    name: str


@dataclass(eq=False)
class UnknownModel(RequestError):
    """A chat completion asks for a model that is no index and mode of the service."""

    name: str
    known: tuple[str, ...] = ()


@dataclass(eq=False)
class TooManyRequests(RequestError):
    """A key has made as many requests in a time as it may; `seconds` and `retry_after` in seconds."""

    limit: int
    seconds: int
    retry_after: int


@dataclass(eq=False)
class AnswerNotFound(RequestError):
    """The service has no such answer, or none any more, or it is another key's."""

    answer_id: str


@dataclass(eq=False)
class FeedbackNotFound(RequestError):
    """The service has no such feedback, or it is another key's."""

    feedback_id: str


@dataclass(eq=False)
class DocumentNotFound(RequestError):
    """The service has no such document."""

    document_id: str


@dataclass(eq=False)
class DocumentRefused(RequestError):
    """None of the files that were sent can be read; a fault names the file and why."""

    faults: tuple[str, ...]


@dataclass(eq=False)
class JobNotFound(RequestError):
    """The service has no such job."""

    job_id: str


@dataclass(eq=False)
class ServerError(RunError):
    """A model server failed or could not be reached."""

    url: str


@dataclass(eq=False)
class ServerUnreachable(ServerError):
    """Nothing answers at the address."""

    reason: str = ""
    hint: str = ""


@dataclass(eq=False)
class ServerLoading(ServerError):
    """The server was still loading its model when the time was up; `waited` in seconds."""

    waited: float


@dataclass(eq=False)
class AuthenticationFailed(ServerError):
    """The server did not accept the key."""


@dataclass(eq=False)
class ModelNotFound(ServerError):
    """The server does not serve the model."""

    model: str
    served: tuple[str, ...] = ()


@dataclass(eq=False)
class RateLimited(ServerError):
    """Too many requests; `retry_after` in seconds where the server says."""

    retry_after: float | None = None


@dataclass(eq=False)
class RequestRefused(ServerError):
    """The server answered with an error that a repetition would not change."""

    status: int
    message: str = ""


@dataclass(eq=False)
class ContextWindowExceeded(ServerError):
    """The server counted more tokens than its window has."""

    n_prompt_tokens: int | None = None
    n_ctx: int | None = None


@dataclass(eq=False)
class InputTooLong(ServerError):
    """One text of an embedding batch is too long for the server."""

    position: int
    excerpt: str
    message: str = ""


@dataclass(eq=False)
class BadResponse(ServerError):
    """The server's answer is not of its protocol."""

    reason: str = ""


@dataclass(eq=False)
class ServerTimeout(ServerError):
    """The whole call was not done within `seconds`; or, if `silent`, the server gave no sign for so long."""

    seconds: float
    silent: bool = False

    def details(self) -> dict[str, Any]:
        """Return the fields, and the seconds of silence as `silence`."""
        silence = self.seconds if self.silent else None
        return {"url": self.url, "seconds": self.seconds, "silent": self.silent, "silence": silence}


@dataclass(eq=False)
class StreamInterrupted(ServerError):
    """The stream broke after text had arrived; what arrived is `text_so_far`."""

    text_so_far: str = ""
    reason: str = ""

    def details(self) -> dict[str, Any]:
        """Return the fields and `n`, the number of characters that arrived."""
        return {"url": self.url, "text_so_far": self.text_so_far, "reason": self.reason, "n": len(self.text_so_far)}


@dataclass(eq=False)
class StructuredOutputFailed(RunError):
    """The model's answer is not an object of the wanted kind."""

    reason: str
    text: str = ""


@dataclass(eq=False)
class StepFailed(RunError):
    """A step of a program failed for a reason that is not one of the package's errors."""

    stage: str
    reason: str


@dataclass(eq=False)
class JournalIncomplete(RunError):
    """A replay came to something that its journal does not hold.

    `missing` is "answer", "tokens", "prompt" or "metadata"; `excerpt` the beginning of the prompt or text.
    """

    missing: str
    excerpt: str = ""

    def render(self, language: str = "en") -> str:
        """Say what the journal does not hold, in "en" or "zh"."""
        missing = _filled(JOURNAL_PARTS[self.missing], self.details(), language)
        return _filled(ERROR_TEXTS[self.code], {"missing": missing}, language)


@dataclass(eq=False)
class CallBudgetExceeded(RunError):
    """The program needs more calls than it was allowed."""

    planned: int
    limit: int


@dataclass(eq=False)
class DoesNotConverge(RunError):
    """Summaries do not get shorter than what they summarize."""

    level: int
    packs: int


@dataclass(eq=False)
class RetrievalFailed(RunError):
    """The search for passages failed."""

    reason: str


@dataclass(eq=False)
class IndexFault(RunError):
    """Something is wrong with an index directory."""

    path: str


@dataclass(eq=False)
class IndexNotFound(IndexFault):
    """There is no index at the path."""


@dataclass(eq=False)
class IndexEmpty(IndexFault):
    """The index holds no passages."""


@dataclass(eq=False)
class IndexDamaged(IndexFault):
    """The index cannot be read."""

    reason: str = ""


@dataclass(eq=False)
class IndexVersionMismatch(IndexFault):
    """The index was written in another form."""

    found: str
    expected: str


@dataclass(eq=False)
class IndexLocked(IndexFault):
    """Another process is writing to the index."""


@dataclass(eq=False)
class IndexNotWritable(IndexFault):
    """The index directory cannot be written: read-only, or the disk is full."""

    reason: str = ""


@dataclass(eq=False)
class EmbedderNotGiven(IndexFault):
    """The index was built with a model behind a server, and no server was named."""

    index_model: str


@dataclass(eq=False)
class EmbeddingMismatch(IndexFault):
    """The index was built with another embedding model; its dimensions are None until it has embedded something."""

    index_model: str
    index_dimensions: int
    given_model: str
    given_dimensions: int | None = None


@dataclass(eq=False)
class ChatStoreFault(RunError):
    """Something is wrong with a store of conversations."""

    location: str


@dataclass(eq=False)
class ChatStoreUnavailable(ChatStoreFault):
    """The store cannot be reached, read or written now."""

    reason: str = ""


@dataclass(eq=False)
class ChatStoreDamaged(ChatStoreFault):
    """What the store holds cannot be read."""

    reason: str = ""


@dataclass(eq=False)
class ChatStoreVersionMismatch(ChatStoreFault):
    """The store was written by a newer version of this package."""

    found: str
    expected: str


@dataclass(eq=False)
class SessionNotFound(ChatStoreFault):
    """The store has no such session."""

    session: str


@dataclass(eq=False)
class MessageNotFound(ChatStoreFault):
    """The session has no such message."""

    session: str
    message: str


@dataclass(eq=False)
class EmbeddingFailed(RunError):
    """The embedding model failed."""

    reason: str


@dataclass(eq=False)
class ReadingFailed(RunError):
    """A file cannot be read as a document.

    `reason` is one of `error_texts.READING_REASONS`, or a sentence; `detail` is what that reason's text shows.
    """

    path: str
    reason: str
    detail: str = ""

    def render(self, language: str = "en") -> str:
        """Say which file cannot be read and why, in "en" or "zh"."""
        reason = reading_reason(self.reason, self.detail, language)
        return _filled(ERROR_TEXTS[self.code], {"path": self.path, "reason": reason}, language)


def reading_reason(reason: str, detail: str = "", language: str = "en") -> str:
    """Return a reading reason's text, in "en" or "zh"; `reason` itself where it is a sentence already."""
    texts = READING_REASONS.get(reason)
    return reason if texts is None else _filled(texts, {"detail": detail}, language)


@dataclass(eq=False)
class LocalServerFailed(RunError):
    """The packaged model server did not start."""

    reason: str


@dataclass(eq=False)
class ModelFetchFailed(RunError):
    """A packaged model could not be had."""

    name: str
    reason: str


@dataclass(eq=False)
class QueueFull(RunError):
    """As many questions wait as may; `retry_after` in seconds."""

    waiting: int
    retry_after: int


@dataclass(eq=False)
class SessionBusy(RunError):
    """As many messages of a session wait for their turn as may."""

    waiting: int


@dataclass(eq=False)
class JobsFull(RunError):
    """As many jobs wait as may."""

    waiting: int
    limit: int


@dataclass(eq=False)
class JobNotRunnable(RunError):
    """A job is run again only after it ended without being done."""

    job_id: str
    state: str


@dataclass(eq=False)
class RecordsUnavailable(RunError):
    """What the service keeps of documents, jobs and feedback cannot be read or written."""

    path: str
    reason: str


@dataclass(eq=False)
class PartSilent(RunError):
    """A part of the service gave no sign within `seconds` of being asked."""

    seconds: float


@dataclass(eq=False)
class AnswerStopped(RunError):
    """An answer was stopped before its end: on request, or since nobody was listening any more."""


@dataclass(eq=False)
class StreamTooSlow(RunError):
    """A stream was read so slowly that `count` of its events are kept no longer."""

    count: int


@dataclass(eq=False)
class ServiceEnding(RunError):
    """The service ended before the answer did; `retry_after` in seconds."""

    retry_after: int = 5


@dataclass(eq=False)
class LimitsUnavailable(RunError):
    """The requests of the keys cannot be counted."""

    path: str
    reason: str


@dataclass(eq=False)
class InternalError(RunError):
    """The service failed in a way it has no name for; its log says more."""


@dataclass(eq=False)
class KeysDamaged(RunError):
    """The file of keys cannot be read or written."""

    path: str
    reason: str


@dataclass(eq=False)
class KeyNotFound(RunError):
    """There is no key of that id."""

    key_id: str
