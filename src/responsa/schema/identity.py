"""Identities that follow from content: equal for equal content, on every machine and in every run."""

from __future__ import annotations

import hashlib


def fingerprint(*parts: str) -> str:
    """Return 32 hexadecimal digits that tell these texts from all others."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
    return digest.hexdigest()
