"""The one table of an index on disk: its columns, its indexes, and rows for it.

A passage's metadata stands in it twice: in `node`, to be given back, and taken apart in `labels`, `numbers` and
`texts`, to be filtered by. `labels` hold one entry for every value that equality is asked of, which an index answers;
`numbers` and `texts` hold JSON of one kind of value each, because asking JSON for a number where there is a text is an
error.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Final

from responsa.schema.nodes import MetadataMode, TextNode
from responsa.tokens.words import words

from . import rows
from .contract import StoredDocument

TABLE: Final = "passages"
_LONGEST_WORD_BYTES: Final = 512


def table_schema(dimensions: int) -> Any:
    """Return the columns as a pyarrow schema."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("doc_id", pa.string()),
            pa.field("content_hash", pa.string()),
            pa.field("words", pa.string(), nullable=False),
            pa.field("node", pa.string(), nullable=False),
            pa.field("labels", pa.list_(pa.string()), nullable=False),
            pa.field("numbers", pa.json_()),
            pa.field("texts", pa.json_()),
            pa.field("vector", pa.list_(pa.float32(), dimensions), nullable=False),
        ]
    )


def scalar_indexes() -> dict[str, Any]:
    """Return the indexes that an empty table starts with, by column."""
    from lancedb.index import FTS, BTree, LabelList

    # Our words are ready: anything but splitting at white space would change them, and the default finds no Chinese.
    keywords = FTS(
        base_tokenizer="whitespace",
        max_token_length=_LONGEST_WORD_BYTES,
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
    )
    return {"id": BTree(), "doc_id": BTree(), "labels": LabelList(), "words": keywords}


def vector_index() -> Any:
    """Return the index over vectors."""
    from lancedb.index import HnswSq

    # Less than the usual depth of building and a smaller sample to quantize by: after refinement the same is found, in
    # half of the time and with less memory.
    return HnswSq(distance_type="dot", num_partitions=1, m=16, ef_construction=100, sample_rate=16)


def documents_table(documents: Sequence[StoredDocument], dimensions: int) -> Any:
    """Return the rows of documents as a pyarrow table."""
    passages = [
        (node, vector, document.doc_id, document.content_hash)
        for document in documents
        for node, vector in zip(document.nodes, document.vectors, strict=True)
    ]
    return _table(passages, dimensions)


def nodes_table(nodes: Sequence[TextNode], vectors: Sequence[array[float]], dimensions: int) -> Any:
    """Return the rows of single passages as a pyarrow table."""
    return _table(
        [(node, vector, node.ref_doc_id, None) for node, vector in zip(nodes, vectors, strict=True)], dimensions
    )


def _table(passages: Sequence[tuple[TextNode, array[float], str | None, str | None]], dimensions: int) -> Any:
    import pyarrow as pa

    nodes = [node for node, _, _, _ in passages]
    flat = pa.py_buffer(b"".join(vector.tobytes() for _, vector, _, _ in passages))
    floats = pa.Array.from_buffers(pa.float32(), len(passages) * dimensions, [None, flat])
    columns = [
        pa.array([rows.stored_id(node.id_) for node in nodes], pa.string()),
        pa.array([doc_id if doc_id is None else rows.stored_id(doc_id) for _, _, doc_id, _ in passages], pa.string()),
        pa.array([content_hash for _, _, _, content_hash in passages], pa.string()),
        pa.array([" ".join(words(node.get_content(MetadataMode.EMBED))) for node in nodes], pa.string()),
        pa.array([rows.node_to_json(node) for node in nodes], pa.string()),
        pa.array([rows.labels(node.metadata) for node in nodes], pa.list_(pa.string())),
        pa.array([rows.numbers_json(node.metadata) for node in nodes], pa.json_()),
        pa.array([rows.texts_json(node.metadata) for node in nodes], pa.json_()),
        pa.FixedSizeListArray.from_arrays(floats, dimensions),
    ]
    return pa.Table.from_arrays(columns, schema=table_schema(dimensions))
