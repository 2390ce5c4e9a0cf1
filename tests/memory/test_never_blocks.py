"""The asynchronous methods never block the event loop, whatever store is below."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx
from tests.memory.support import LLM, RecordingBlock, assistant, talk, user
from tests.memory.talking_process import opened

from responsa.memory import Memory, SQLAlchemyChatStore
from responsa.schema.stored import StoredMessage


@pytest.mark.parametrize("kind", ["file", "sqlite", "postgresql"])
def test_a_conversation_never_blocks_the_loop(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    where = request.getfixturevalue("postgres_uri") if kind == "postgresql" else str(tmp_path / "chats")
    store = opened(f"{where}.jsonl" if kind == "file" else where)
    asking = "from responsa.memory.writers import new_writer; print(new_writer())"
    gone = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, check=True).stdout.strip()
    left = StoredMessage(assistant("half"), status="partial", writer=gone)
    store.add_messages("s", [*talk(20), user("Why?"), left])

    async def main() -> None:
        memory = Memory("s", chat_store=store, memory_blocks=[RecordingBlock()], token_limit=60, llm=LLM)
        await memory.aget_all()  # the first use prepares the store, and may load packages
        with blockbuster_ctx():
            turn = await memory.abegin_turn(user("And?"))
            await turn.adelta("So")
            await turn.afinish("So.")
            recovered = await memory.arecover()
            assert recovered[-3].reason == "process_ended"
            assert await memory.aget()
            await store.afork_session("s", turn.user.id)
            await memory.areset()
        if isinstance(store, SQLAlchemyChatStore):
            await store.aclose()

    asyncio.run(main())
