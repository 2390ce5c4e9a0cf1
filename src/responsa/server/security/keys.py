"""The service's API keys: made once, shown once, kept as hashes in a file."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from responsa.memory.chat_stores.file_lock import file_lock
from responsa.schema.errors import InvalidOption, KeyNotFound, KeysDamaged

from .limits import Limit

PREFIX: Final = "rsp"


class Scope(StrEnum):
    """What a key may be used for; each includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


_IMPLIED: Final = {Scope.READ: {*Scope}, Scope.WRITE: {Scope.WRITE, Scope.ADMIN}, Scope.ADMIN: {Scope.ADMIN}}


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept: its secret can be checked, not read.

    Args:
        key_id: What it is called by; no secret.
        name: Whose it is, or what it is for.
        scopes: What it may be used for.
        digest: The SHA-256 of its secret, in hexadecimal.
        created: When it was made, in seconds since 1970.
        revoked: When it was revoked, or None.
        limits: How often it may ask, each as `60/minute`; none for what the service's settings say.
    """

    key_id: str
    name: str
    scopes: tuple[Scope, ...]
    digest: str
    created: float
    revoked: float | None = None
    limits: tuple[str, ...] = ()

    def allows(self, scope: Scope) -> bool:
        """Tell whether the key may be used for what `scope` covers."""
        return not _IMPLIED[scope].isdisjoint(self.scopes)


class KeyStore:
    """The keys in a file, which several processes read and change.

    A secret has 256 random bits, so that a plain hash of it cannot be guessed back.

    Args:
        path: The file; it need not be there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._keys: dict[str, ApiKey] = {}

    def add(self, name: str, scopes: Iterable[str] = (Scope.READ,), limits: Iterable[str] = ()) -> tuple[ApiKey, str]:
        """Make a key; return it and its text, which is not kept.

        Args:
            name: Whose it is, or what it is for.
            scopes: What it may be used for.
            limits: How often it may ask, each as `60/minute`; none for what the service's settings say.

        Raises:
            InvalidOption: A scope or a limit is not one.
            KeysDamaged: The file cannot be read or written.
        """
        known = {scope.value for scope in Scope}
        for scope in scopes:
            if scope not in known:
                raise InvalidOption("scope", scope, ", ".join(known))
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        wanted = tuple(scope for scope in Scope if scope in set(scopes))
        held_to = tuple(str(Limit.parse(text)) for text in limits)
        key = ApiKey(key_id, name, wanted, _digest(secret), time.time(), limits=held_to)
        self._change({key_id: key})
        return key, f"{PREFIX}_{key_id}_{secret}"

    def list(self) -> list[ApiKey]:
        """Return all keys, revoked ones too, oldest first."""
        self._refresh()
        return sorted(self._keys.values(), key=lambda key: key.created)

    def revoke(self, key_id: str) -> ApiKey:
        """Accept a key no longer.

        Raises:
            KeyNotFound: There is no such key.
        """
        self._refresh()
        key = self._keys.get(key_id)
        if key is None:
            raise KeyNotFound(key_id)
        if key.revoked is None:
            key = replace(key, revoked=time.time())
            self._change({key_id: key})
        return key

    def any_valid(self) -> bool:
        """Tell whether there is a key that is accepted."""
        return any(key.revoked is None for key in self.list())

    def verify(self, text: str) -> ApiKey | None:
        """Return the key of that text, or None where there is none or it was revoked.

        A key that another process made or revoked is known at once. Takes the same time for any secret.
        """
        self._refresh()
        prefix, _, rest = text.partition("_")
        key_id, _, secret = rest.partition("_")
        key = self._keys.get(key_id)
        expected = key.digest if key is not None else _digest("")
        same = hmac.compare_digest(_digest(secret), expected)
        return key if same and key is not None and prefix == PREFIX and key.revoked is None else None

    def _refresh(self) -> None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._seen, self._keys = None, {}
            return
        except OSError as error:
            raise KeysDamaged(str(self._path), error.strerror or str(error)) from error
        seen = (status.st_mtime_ns, status.st_ino, status.st_size)
        if seen != self._seen:
            self._keys = _read(self._path)
            self._seen = seen

    def _change(self, changed: dict[str, ApiKey]) -> None:
        """Write the keys with some of them changed, as a whole; what others wrote meanwhile is kept."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with file_lock(self._path.with_suffix(".lock")):
                self._refresh()
                keys = {**self._keys, **changed}
                text = json.dumps([asdict(key) for key in keys.values()], ensure_ascii=False, indent=1)
                fresh = self._path.with_suffix(f".{secrets.token_hex(4)}")
                handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                fresh.replace(self._path)
                self._refresh()
        except OSError as error:
            raise KeysDamaged(str(self._path), error.strerror or str(error)) from error


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path) -> dict[str, ApiKey]:
    try:
        entries: Any = json.loads(path.read_text("utf-8"))
        keys = [_key(entry) for entry in entries]
    except OSError as error:
        raise KeysDamaged(str(path), error.strerror or str(error)) from error
    except (ValueError, TypeError, KeyError, InvalidOption) as error:
        raise KeysDamaged(str(path), "it is not a list of keys") from error
    return {key.key_id: key for key in keys}


def _key(entry: dict[str, Any]) -> ApiKey:
    """Return a key as the file has it; files of earlier versions say nothing of limits."""
    scopes = tuple(map(Scope, entry["scopes"]))
    limits = tuple(str(Limit.parse(str(text))) for text in entry.get("limits", ()))
    return ApiKey(**{**entry, "scopes": scopes, "limits": limits})
