"""What the tests of the index share."""

from collections.abc import Iterator, Sequence

from responsa.schema.nodes import Document, TextNode
from responsa.testing.embedder import BagOfWordsEmbedder


class LineSplitter:
    """Cuts a document into its lines."""

    def get_nodes_from_documents(self, documents: Sequence[Document]) -> list[TextNode]:
        return [
            TextNode(line, id_=f"{document.id_}/{number}", ref_doc_id=document.id_, metadata=dict(document.metadata))
            for document in documents
            for number, line in enumerate(document.text.splitlines())
            if line
        ]


class FailingEmbedder(BagOfWordsEmbedder):
    """Fails at the text that holds a word."""

    def __init__(self, word: str, error: Exception) -> None:
        super().__init__(32)
        self.word = word
        self.error = error

    def get_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        if any(self.word in text for text in texts):
            raise self.error
        return super().get_text_embedding_batch(texts)


def documents(count: int, *, lines: int = 3, start: int = 0) -> list[Document]:
    return [document(number, lines=lines) for number in range(start, start + count)]


def document(number: int, *, lines: int = 3, word: str = "passage") -> Document:
    text = "\n".join(f"{word} {line} of document {number} 文档第{number}页" for line in range(lines))
    return Document(text, id_=f"doc{number}", metadata={"number": number})


def stream(count: int, *, lines: int = 3) -> Iterator[Document]:
    for number in range(count):
        yield document(number, lines=lines)
