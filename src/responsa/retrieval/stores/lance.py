"""The store on disk: LanceDB, with vectors, BM25 over our own search words, and filters, in one table."""

from __future__ import annotations

import asyncio
import time
from array import array
from collections.abc import Coroutine, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from operator import mul
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from responsa.schema.errors import IndexDamaged
from responsa.schema.filters import MetadataFilters
from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.tokens.words import query_words

from . import rows
from .blocking import AsyncStore
from .contract import StoredDocument, StoreMeta
from .directory import IndexDirectory
from .lance_process import load_lancedb, release_memory
from .locking import held
from .sql import one_of, where
from .table import TABLE, documents_table, nodes_table, scalar_indexes, table_schema, vector_index

T = TypeVar("T")

EXACT_BELOW: Final = 10_000
"""The passages up to which every vector is compared: 10 milliseconds, sooner than an index is worth its building."""
UNINDEXED_ROWS: Final = 500
"""The new passages after which the indexes are brought up to date; a search takes 6 milliseconds for that many."""
UNINDEXED_SHARE: Final = 0.05
"""The share of new passages after which they are, in a small table."""
SMALL_FILES: Final = 20
"""The small files after which they are merged."""
VECTOR_SEGMENTS: Final = 8
"""The pieces of the vector index after which it is built anew as one."""
OPTIMIZING_SHARE: Final = 0.05
"""The share of its time that a long ingest may spend on bringing the indexes up to date on its way."""
REFINE: Final = 3
"""The candidates that are compared exactly, for each passage asked for."""
KEPT_FOR: Final = timedelta(minutes=1)
"""How long older versions are kept for searches that are under way; each search begins with the newest."""
CHECK_FOR_NEWS: Final = timedelta(0)
"""Every read sees what any process has written."""


class LanceStore(AsyncStore):
    """Passages in a directory, searched and written by any number of processes, one writer at a time.

    Made by `LanceStore.open` and `LanceStore.create`, not by its constructor.
    """

    def __init__(self, directory: IndexDirectory, meta: StoreMeta, table: Any) -> None:
        self._directory = directory
        self._meta = meta
        self._table = table
        self._new_rows = 0
        self._next_optimizing = 0.0

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open the store in a directory.

        Raises:
            IndexNotFound: There is none.
            IndexVersionMismatch: It has another form.
            IndexDamaged: It cannot be read.
            MissingExtra: LanceDB is not installed.
        """
        IndexDirectory(path).read_manifest()  # what is no index is told before LanceDB has loaded, which takes seconds
        return _run(cls.aopen(path))

    @classmethod
    async def aopen(cls, path: str | Path) -> Self:
        """Open the store in a directory, as `open` does, without blocking."""
        directory = IndexDirectory(path)
        meta = await asyncio.to_thread(directory.read_manifest)
        connection = await _connection(directory)
        with directory.reading():
            table = await connection.open_table(TABLE)
            if (await table.schema()).names != table_schema(meta.dimensions).names:
                raise IndexDamaged(str(directory), "its table has other columns")
        return cls(directory, meta, table)

    @classmethod
    def create(cls, path: str | Path, meta: StoreMeta) -> Self:
        """Make a store in a new or empty directory; open it if another process has just made it.

        Raises:
            InvalidOption: The directory holds other files.
            IndexLocked: Another process is making it.
            IndexNotWritable: The directory cannot be written.
            IndexDamaged: It holds passages, but no manifest.
            MissingExtra: LanceDB is not installed.
        """
        return _run(cls.acreate(path, meta))

    @classmethod
    async def acreate(cls, path: str | Path, meta: StoreMeta) -> Self:
        """Make a store in a new or empty directory, as `create` does, without blocking."""
        directory = IndexDirectory(path)
        await asyncio.to_thread(directory.check_free)
        async with held(directory.lock()):
            if await asyncio.to_thread(directory.exists):
                return await cls.aopen(path)
            await asyncio.to_thread(directory.clear_unfinished)
            connection = await _connection(directory)
            with directory.writing():
                table = await connection.create_table(TABLE, schema=table_schema(meta.dimensions))
                for column, index in scalar_indexes().items():
                    await table.create_index(column, config=index)
            await asyncio.to_thread(directory.write_manifest, meta)
        return cls(directory, meta, table)

    @property
    def meta(self) -> StoreMeta:
        return self._meta

    @property
    def location(self) -> str:
        """The directory, for messages."""
        return str(self._directory)

    def lock(self) -> AbstractContextManager[None]:
        """Take the right to write, until the context ends or the process dies.

        Raises:
            IndexLocked: Another writer has it, in this process or another.
            IndexNotWritable: The directory cannot be written.
        """
        return self._directory.lock()

    async def areplace_documents(self, documents: Sequence[StoredDocument]) -> None:
        these = one_of("doc_id", [rows.stored_id(document.doc_id) for document in documents])
        with self._directory.writing():
            new = await asyncio.to_thread(documents_table, documents, self._meta.dimensions)
            if not documents or not await self._table.count_rows(these):
                await self._append(new)
            else:
                upsert = self._table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
                await upsert.when_not_matched_by_source_delete(these).execute(new)
        await self._written(new.num_rows)

    async def aadd_nodes(self, nodes: Sequence[TextNode], vectors: Sequence[array[float]]) -> None:
        with self._directory.writing():
            new = await asyncio.to_thread(nodes_table, nodes, vectors, self._meta.dimensions)
            if new.num_rows:
                upsert = self._table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
                await upsert.execute(new)
        await self._written(new.num_rows)

    async def adelete_documents(self, doc_ids: Sequence[str]) -> int:
        return await self._delete("doc_id", doc_ids)

    async def adelete_nodes(self, node_ids: Sequence[str]) -> int:
        return await self._delete("id", node_ids)

    async def adense_search(
        self, vector: Sequence[float], top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]:
        with self._directory.reading():
            query = self._table.query().nearest_to(list(vector)).distance_type("dot").refine_factor(REFINE)
            found = await _limited(query, top_k, filters).select(["node", "_distance"]).to_arrow()
            return _ranked(found, [1.0 - distance for distance in found["_distance"].to_pylist()])

    async def akeyword_search(
        self, query: str, top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]:
        text = " ".join(query_words(query))
        if not text:
            return []
        with self._directory.reading():
            matching = self._table.query().nearest_to_text(_match_query()(text, "words"))
            found = await _limited(matching, top_k, filters).select(["node", "_score"]).to_arrow()
            return _ranked(found, found["_score"].to_pylist())

    async def asimilarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]:
        with self._directory.reading():
            found = await self._by_ids(node_ids, ["id", "vector"])
            return {rows.restored_id(row["id"]): sum(map(mul, row["vector"], vector)) for row in found}

    async def aget_nodes(self, node_ids: Sequence[str]) -> list[TextNode]:
        with self._directory.reading():
            found = [rows.node_from_json(row["node"]) for row in await self._by_ids(node_ids, ["node"])]
        nodes = {node.id_: node for node in found}
        return [nodes[node_id] for node_id in node_ids if node_id in nodes]

    async def acount(self) -> int:
        with self._directory.reading():
            return int(await self._table.count_rows())

    async def adocument_hashes(self, doc_ids: Sequence[str] | None = None) -> dict[str, str]:
        condition = "content_hash IS NOT NULL"
        if doc_ids is not None:
            if not doc_ids:
                return {}
            condition += f" AND {one_of('doc_id', map(rows.stored_id, doc_ids))}"
        hashes: dict[str, str] = {}
        with self._directory.reading():
            query = self._table.query().where(condition).select(["doc_id", "content_hash"])
            async for batch in await query.to_batches():
                hashes.update(zip(batch["doc_id"].to_pylist(), batch["content_hash"].to_pylist(), strict=True))
        return {rows.restored_id(doc_id): content_hash for doc_id, content_hash in hashes.items()}

    async def aoptimize(self) -> None:
        """Make searches fast after many writes: bring the indexes up to date, merge small files. Needs the lock.

        The index over vectors is built when there are `EXACT_BELOW` passages; until then, and for passages that came
        since, every vector is compared.
        """
        with self._directory.writing():
            indexes = {index.columns[0]: index for index in await self._table.list_indices()}
            n_rows = await self._table.count_rows()
            unindexed = indexes["words"].num_unindexed_rows
            files = (await self._table.stats())["fragment_stats"]["num_small_fragments"]
            if unindexed > min(UNINDEXED_ROWS, UNINDEXED_SHARE * n_rows) or files >= SMALL_FILES:
                await self._table.optimize(cleanup_older_than=KEPT_FOR)
            vectors = indexes.get("vector")
            if n_rows >= EXACT_BELOW if vectors is None else vectors.num_segments >= VECTOR_SEGMENTS:
                release_memory()
                await self._table.create_index("vector", config=vector_index(), replace=True)
        self._new_rows = 0

    def close(self) -> None:
        self._table.close()

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        return _run(call)

    async def _append(self, new: Any) -> None:
        if new.num_rows:
            await self._table.add(new)

    async def _written(self, n_rows: int) -> None:
        """Keep searches fast during a long ingest, whose new passages and small files each has to go through."""
        self._new_rows += n_rows
        if self._new_rows < UNINDEXED_ROWS or time.monotonic() < self._next_optimizing:
            return
        start = time.monotonic()
        with self._directory.writing():
            await self._table.optimize(cleanup_older_than=KEPT_FOR)
        self._new_rows = 0
        self._next_optimizing = time.monotonic() + (time.monotonic() - start) / OPTIMIZING_SHARE

    async def _delete(self, column: str, identities: Sequence[str]) -> int:
        if not identities:
            return 0
        these = one_of(column, map(rows.stored_id, identities))
        with self._directory.writing():
            if not await self._table.count_rows(these):
                return 0
            return int((await self._table.delete(these)).num_deleted_rows)

    async def _by_ids(self, node_ids: Sequence[str], columns: list[str]) -> list[dict[str, Any]]:
        if not node_ids:
            return []
        found: list[dict[str, Any]] = (
            await self._table.query().where(one_of("id", map(rows.stored_id, node_ids))).select(columns).to_list()
        )
        return found


def _run(call: Coroutine[Any, Any, T]) -> T:
    """Run on the one loop that LanceDB's own blocking interface runs on: no thread or loop a call."""
    try:
        loop = load_lancedb().background_loop.LOOP
    except BaseException:
        call.close()  # also where Ctrl-C ends the loading: Python warns of calls that nothing waits for
        raise
    result: T = loop.run(call)
    return result


def _match_query() -> Any:
    """Return the query class that takes words as they are; a plain text might be read as a query language some day."""
    from lancedb.query import MatchQuery

    return MatchQuery


async def _connection(directory: IndexDirectory) -> Any:
    lancedb = await asyncio.to_thread(load_lancedb)
    with directory.reading():
        return await lancedb.connect_async(str(directory), read_consistency_interval=CHECK_FOR_NEWS)


def _limited(query: Any, top_k: int, filters: MetadataFilters | None) -> Any:
    condition = where(filters)
    return query.limit(top_k) if condition is None else query.where(condition).limit(top_k)


def _ranked(found: Any, scores: list[float]) -> list[NodeWithScore]:
    nodes = [
        NodeWithScore(rows.node_from_json(text), score)
        for text, score in zip(found["node"].to_pylist(), scores, strict=True)
    ]
    return sorted(nodes, key=lambda node: (-node.get_score(), node.node_id))
