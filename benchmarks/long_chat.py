"""A chat of 200 turns against a real llama-server with a window of 2,048 tokens: no error, and no turn lost.

Run: python benchmarks/long_chat.py [--turns 200]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from responsa.chat_engine import SimpleChatEngine
from responsa.llms.openai_like import OpenAILike
from responsa.local.llama_server import LlamaServer
from responsa.local.models import fetch
from responsa.memory import Memory, SimpleChatStore
from responsa.schema.errors import ResponsaError

WINDOW = 2048
ANSWER_TOKENS = 3
LONG_EVERY = 25
PARAGRAPH = " Say it in one word, whatever else is said here, since all of it is only there to be long." * 6


def message(number: int) -> str:
    """Return what is said in a turn: mostly little, now and then a paragraph."""
    return f"{number}?" + (PARAGRAPH if number % LONG_EVERY == 0 else "")


def processor_seconds(pid: int | None) -> float:
    """Return the processor time a process has taken; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print what became of the chat."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    turns = parser.parse_args().turns
    errors: list[str] = []
    prompts: list[int] = []
    with (
        tempfile.TemporaryDirectory() as directory,
        LlamaServer(fetch("smollm2-135m"), context_window=WINDOW) as server,
    ):
        # The server keeps what it has read of a conversation whose beginning is left out.
        reuse = {"n_cache_reuse": 8}
        llm = OpenAILike(server.model, api_base=server.url, temperature=0.0, additional_kwargs=reuse)
        memory = Memory("long", token_limit=10 * WINDOW, chat_store=SimpleChatStore(Path(directory, "chats.jsonl")))
        engine = SimpleChatEngine(llm=llm, memory=memory, llm_kwargs={"max_tokens": ANSWER_TOKENS})
        for number in range(turns):
            try:
                (record,) = engine.chat(message(number)).trace
            except ResponsaError as error:
                errors.append(f"turn {number}: {error}")
                continue
            prompts.append(record.call.prompt_tokens or 0)
        seconds = processor_seconds(server.pid)
        llm.close()
        kept = memory.recover()
    said = [one.content for one in kept[::2]]
    lost = [number for number in range(turns) if said[number : number + 1] != [message(number)]]
    whole = sum(one.status == "complete" for one in kept)
    largest = max(prompts, default=0)
    print(f"{turns} turns: {len(errors)} errors, {len(lost)} turns lost")
    print(f"{len(kept)} messages kept, {whole} of them whole; prompts of up to {largest} of {WINDOW} tokens")
    print(f"{seconds:.0f} s of the server's processor time")
    print("\n".join(errors))


if __name__ == "__main__":
    main()
