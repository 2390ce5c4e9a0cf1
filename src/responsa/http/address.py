"""A server's address and what is sent with every request to it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..schema.errors import InvalidOption


def checked_base(api_base: str) -> str:
    """Return a server's address without a slash at its end; raises `InvalidOption` if it is none."""
    base = api_base.strip().rstrip("/") if isinstance(api_base, str) else ""
    if not re.fullmatch(r"https?://(\[[0-9a-fA-F:.]+\]|[^\s/:@?#\[\]]+)(:\d{1,5})?(/[^\s?#]*)?", base):
        raise InvalidOption("api_base", api_base, "an address such as http://127.0.0.1:8080/v1")
    return base


def is_this_machine(base: str) -> bool:
    """Say whether an address is one of this machine itself."""
    return re.match(r"https?://(localhost|127\.[\d.]+|\[::1\])(:\d+)?(/|$)", base) is not None


def request_headers(api_key: str | None, default_headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return the headers of every request; raises `InvalidOption`, without the value, for what no header can carry."""
    headers = {"Accept-Encoding": "identity", **(default_headers or {})}
    if api_key is not None:
        if not re.fullmatch(r"[\x21-\x7e]+", api_key):
            raise InvalidOption("api_key", "(hidden)", "printable ASCII without spaces, or None for none")
        headers["Authorization"] = f"Bearer {api_key}"
    for name, value in headers.items():
        if not re.fullmatch(r"[\x20-\x7e\t]*", f"{name}{value}"):
            raise InvalidOption(f"default_headers[{name!r}]", "(hidden)", "printable ASCII")
    return headers
