"""A service in a process that a test kills: `python killed_service.py DIRECTORY model|embedder|none`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from responsa.indices import VectorStoreIndex
from responsa.retrieval import ingest
from responsa.schema.completions import Delta, Sampling, StreamItem
from responsa.schema.messages import ChatMessage
from responsa.server import Service, load_settings
from responsa.server.serving import serve
from responsa.testing import ScriptedLLM
from responsa.testing.embedder import BagOfWordsEmbedder


class Held(BagOfWordsEmbedder):
    """Embeds one batch, then never again."""

    batches = 0

    async def aget_text_embedding_batch(self, texts: Any) -> Any:
        self.batches += 1
        if self.batches > 1:
            await asyncio.Event().wait()
        return await super().aget_text_embedding_batch(texts)


class Speechless(ScriptedLLM):
    """Says a few words, then nothing more."""

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        yield Delta("One two ")
        await asyncio.sleep(0.6)
        yield Delta("three ")
        await asyncio.Event().wait()


def main(directory: Path, hold: str) -> None:
    ingest.WRITE_SECONDS = 0.0  # every batch is written, as with a slow model
    embedder = Held() if hold == "embedder" else BagOfWordsEmbedder()
    made = VectorStoreIndex.from_documents([], embed_model=BagOfWordsEmbedder(), persist_dir=directory / "index")
    index = VectorStoreIndex(made.store, embed_model=embedder, batch_size=4)
    settings = load_settings({"no_auth": True, "port": 0, "data_dir": directory / "data"})
    service = Service(
        settings, llm=Speechless() if hold == "model" else ScriptedLLM("One two three."), indexes={"docs": index}
    )
    serve(service, on_ready=lambda url: print(url, flush=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
