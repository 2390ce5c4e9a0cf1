"""The indexes that the service answers from."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from responsa.schema.errors import EmbedderNotGiven, IndexNotFound, IndexNotMade, UnknownIndex
from responsa.schema.protocols import Embedder

from .settings import ServerSettings, secret_text

if TYPE_CHECKING:
    from responsa.indices import VectorStoreIndex


class Indexes:
    """The indexes served, by name; each is opened when it is first used.

    Args:
        settings: Where they are.
        opened: Indexes that are open already, by name.
    """

    def __init__(self, settings: ServerSettings, opened: Mapping[str, VectorStoreIndex] | None = None) -> None:
        self._settings = settings
        self._opened = dict(opened or {})
        self._opening = asyncio.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """The names, the default first."""
        return tuple(dict.fromkeys([*self._settings.index, *self._opened]))

    def named(self, name: str | None) -> str:
        """Return the name of an index; that of the first one where None.

        Raises:
            UnknownIndex: There is none of that name, or none at all.
        """
        if name is None:
            name = next(iter(self.names), "")
        if name not in self.names:
            raise UnknownIndex(name[:64], self.names)
        return name

    async def get(self, name: str | None, *, make: bool = False) -> VectorStoreIndex:
        """Return an index by its name; the first one where None.

        Args:
            name: Its name.
            make: Whether to make it where its directory holds none yet.

        Raises:
            UnknownIndex: There is none of that name, or none at all.
            IndexNotMade: Its directory holds none yet.
            IndexFault: It cannot be opened.
        """
        name = self.named(name)
        async with self._opening:
            if name not in self._opened:
                self._opened[name] = await self._open(name, make=make)
        return self._opened[name]

    async def _open(self, name: str, *, make: bool) -> VectorStoreIndex:
        from responsa.indices import VectorStoreIndex

        path = self._settings.index[name]
        if make:
            await self._make(path)
        try:
            index = await VectorStoreIndex.aopen(path, embed_model=await self._embedder())
        except IndexNotFound as error:
            raise IndexNotMade(name) from error
        if index.embed_model is None:
            raise EmbedderNotGiven(str(path), index.store.meta.embed_model)
        return index

    async def _make(self, path: Path) -> None:
        from responsa.retrieval.defaults import embed_model_for_new_index
        from responsa.retrieval.stores.opening import aopen_or_create_store

        model = await self._embedder() or embed_model_for_new_index()
        (await aopen_or_create_store(path, model)).close()

    async def _embedder(self) -> Embedder | None:
        from responsa.embeddings.openai_like import OpenAILikeEmbedding
        from responsa.llms.openai_like import OpenAILike

        base, name = self._settings.embed_api_base, self._settings.embed_model
        key = secret_text(self._settings.embed_api_key)
        if base is None:
            return None
        if name is None:
            served = OpenAILike(api_base=base, api_key=key)
            name = (await served.ametadata()).model_name
            await served.aclose()
        return OpenAILikeEmbedding(name, api_base=base, api_key=key)
