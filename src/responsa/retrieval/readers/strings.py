"""Documents made by hand from texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from responsa.schema.errors import InvalidOption
from responsa.schema.identity import fingerprint
from responsa.schema.nodes import Document


class StringIterableReader:
    """Makes documents of texts, with identities that follow from their content.

    Example:
        >>> documents = StringIterableReader().load_data(["We open at nine."])
        >>> documents[0].text
        'We open at nine.'
    """

    def load_data(
        self, texts: Iterable[str], *, ids: Sequence[str] | None = None, metadata: Mapping[str, Any] | None = None
    ) -> list[Document]:
        """Return one document a text.

        Args:
            texts: The texts, as Markdown.
            ids: The documents' identities; made of the texts when left out.
            metadata: Metadata every document gets, such as a title or url.

        Raises:
            InvalidOption: There are not as many identities as texts.
        """
        given = list(texts)
        if ids is not None and len(ids) != len(given):
            raise InvalidOption("ids", f"{len(ids)} identities", f"{len(given)}, one a text")
        identities = ids or [fingerprint(text) for text in given]
        return [
            Document(text=text, id_=identity, metadata=dict(metadata or {}))
            for text, identity in zip(given, identities, strict=True)
        ]
