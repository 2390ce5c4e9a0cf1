"""How the service is configured: by flags, then the environment (`RESPONSA_...`), then a settings file (TOML)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from responsa.schema.errors import InvalidOption, UnknownOption

from .security.limits import Limit

DEFAULT_SETTINGS_FILE: Final = Path(".responsa/settings.toml")
_INDEX_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class ServerSettings(BaseSettings):
    """What the service is configured with; `load_settings` reads them from all places."""

    model_config = SettingsConfigDict(env_prefix="RESPONSA_", extra="forbid", frozen=True)

    host: str = Field("127.0.0.1", description="The address to listen at.")
    port: int = Field(8000, ge=0, le=65535, description="The port; 0 takes a free one.")
    index: Annotated[dict[str, Path], NoDecode] = Field(
        default_factory=dict,
        description="The indexes served, as DIR or NAME=DIR, several separated by commas; in the file also a table.",
    )
    api_base: str = Field("http://127.0.0.1:8080/v1", description="The model server's address, with /v1.")
    model: str | None = Field(None, description="The served model's id; the one served if not given.")
    api_key: SecretStr | None = Field(None, description="The model server's key.")
    embed_api_base: str | None = Field(
        None, description="An embedding server's address, with /v1; the packaged embedding model if not given."
    )
    embed_model: str | None = Field(None, description="The embedding server's model id.")
    embed_api_key: SecretStr | None = Field(None, description="The embedding server's key.")
    temperature: float | None = Field(0.0, ge=0, le=2, description="How the model samples; 0 is repeatable.")
    context_window: int | None = Field(None, ge=1, description="Tokens of prompt and answer; what is served if None.")
    max_tokens: int | None = Field(None, ge=1, description="The most tokens an answer may have.")
    timeout: float = Field(600.0, gt=0, description="The most seconds a call of the model may take.")

    no_auth: bool = Field(False, description="Ask for no key; on a loopback address only.")
    data_dir: Path = Field(Path(".responsa"), description="Where the service keeps what is its own, such as keys.")
    max_upload_bytes: int = Field(100_000_000, ge=1024, description="The most bytes of an upload, all files together.")
    max_upload_files: int = Field(100, ge=1, le=10_000, description="The most files of an upload.")
    max_jobs: int = Field(100, ge=1, description="Jobs on documents that may wait.")
    reading_seconds: float = Field(600.0, gt=0, description="The most seconds the reading of a file may take.")
    sessions_database: SecretStr | None = Field(
        None, description="Where sessions are kept: postgresql://... or a file; sessions.db in data_dir if not given."
    )
    cors_origins: tuple[str, ...] = Field((), description="Origins of web pages that may call the service.")
    allowed_hosts: tuple[str, ...] = Field((), description="Names the service is reached by, beside its address.")
    max_body_bytes: int = Field(4_000_000, ge=1024, description="The most bytes of a request's body.")
    limits: Annotated[tuple[str, ...], NoDecode] = Field(
        ("120/minute", "3000/hour"),
        description="How often each key may ask that has no limits of its own, as NUMBER/UNIT, several separated by "
        "commas; empty for no limit.",
    )
    openai_footnotes: bool = Field(
        False, description="List the cited sources under the answers of /v1/chat/completions."
    )

    concurrency: int | None = Field(
        None, ge=1, description="Questions answered at a time; the model server's slots if not given."
    )
    max_waiting: int = Field(64, ge=0, description="Questions that may wait for their turn.")
    heartbeat_seconds: float = Field(10.0, gt=0, description="The longest silence of an event stream.")
    stalled_seconds: float = Field(
        60.0, gt=0, description="How long a client may take nothing of its reply before its connection is cut."
    )
    grace_seconds: float = Field(15.0, ge=0, description="How long an answer goes on that nobody listens to.")
    keep_seconds: float = Field(120.0, ge=0, description="How long the events of a finished answer are kept.")
    max_answers: int = Field(1000, ge=1, description="The most answers whose events are kept.")
    max_event_bytes: int = Field(2_000_000, ge=10_000, description="The most bytes of events kept of one answer.")

    shutdown_seconds: float = Field(
        25.0, ge=0, le=3600, description="How long answers under way may take to finish when the service is ended."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="What is written to the log; info has a line a request."
    )

    @field_validator("index", mode="before")
    @classmethod
    def _named_indexes(cls, value: Any) -> Any:
        """Take one place, several, or a table of names; a place without a name is called as its directory is."""
        if isinstance(value, Mapping):
            pairs = list(value.items())
        else:
            texts = [str(part) for part in value] if isinstance(value, list | tuple) else str(value).split(",")
            pairs = [_named(text.strip()) for text in texts if text.strip()]
        for name, _ in pairs:
            if not _INDEX_NAME.fullmatch(str(name)):
                raise ValueError(f"the name {name!r} is not made of letters, digits, dots, dashes and underscores")
        if len(dict(pairs)) < len(pairs):
            raise ValueError("two indexes have the same name; give others with NAME=DIR")
        return dict(pairs)

    @field_validator("limits", mode="before")
    @classmethod
    def _limits(cls, value: Any) -> Any:
        parts = value.split(",") if isinstance(value, str) else value
        if isinstance(parts, list | tuple):
            parts = tuple(str(part).strip() for part in parts if str(part).strip())
            try:
                for part in parts:
                    Limit.parse(part)
            except InvalidOption as error:
                raise ValueError(f"expected {error.expected}") from None
        return parts

    @property
    def limits_file(self) -> Path:
        """Where the requests of the keys are counted."""
        return self.data_dir / "limits.db"

    @property
    def keys_file(self) -> Path:
        """Where the keys are."""
        return self.data_dir / "keys.json"


def load_settings(flags: Mapping[str, Any], *, file: Path | None = None) -> ServerSettings:
    """Return the settings from flags, the environment and a settings file, in this order.

    Args:
        flags: What was given by hand, by the settings' names; None stands for not given.
        file: The settings file; `.responsa/settings.toml` when left out, if it is there.

    Raises:
        UnknownOption: The file has a name that is no setting.
        InvalidOption: A value is not what the setting takes, or the file cannot be read.
    """
    from_file = _read(file)
    given = {name: value for name, value in flags.items() if value is not None}

    class Settings(ServerSettings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, InitSettingsSource(settings_cls, from_file)

    try:
        return Settings(**given)
    except ValidationError as error:
        raise _explained(error) from None  # the original shows the values, which may be secret


def secret_text(secret: SecretStr | None) -> str | None:
    """Return what a secret holds, or None where it was not given."""
    return secret.get_secret_value() if secret is not None else None


def shown(settings: ServerSettings) -> dict[str, Any]:
    """Return the settings as JSON and TOML have them; of a secret only whether there is one."""
    values = settings.model_dump(mode="json")
    for name in values:
        if isinstance(getattr(settings, name), SecretStr):
            values[name] = "(set)"
        elif name.endswith("api_base") and values[name] is not None:
            values[name] = _without_secrets(values[name])
    return values


def _without_secrets(address: str) -> str:
    """Return an address without the name, password and query that may stand in it."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _named(text: str) -> tuple[str, str]:
    name, is_named, place = text.partition("=")
    return (name, place) if is_named else (Path(text).resolve().name, text)


def _read(file: Path | None) -> dict[str, Any]:
    path = file or DEFAULT_SETTINGS_FILE
    if file is None and not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidOption("settings file", str(path), f"a TOML file that can be read ({error})") from error


def _explained(error: ValidationError) -> InvalidOption | UnknownOption:
    first = error.errors(include_url=False)[0]
    name = ".".join(map(str, first["loc"][:1])) or "settings"
    known = tuple(ServerSettings.model_fields)
    if first["type"] == "extra_forbidden":
        return UnknownOption(name, "the settings", known)
    field = ServerSettings.model_fields.get(name)
    is_secret = field is not None and "SecretStr" in str(field.annotation)
    value = "(a secret)" if is_secret else first["input"]
    return InvalidOption(name, value, first["msg"])
