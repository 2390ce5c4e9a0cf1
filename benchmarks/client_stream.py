"""What a streamed token costs the client, and whether a thousand streams stay on time.

    python benchmarks/client_stream.py [--streams 1000]

The server is scripted and runs in a process of its own, so that what is measured is this process alone. Processor
time does not depend on the machine's load; delays do.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from responsa.llms.openai_like import OpenAILike
from responsa.schema.completions import Delta, Sampling
from responsa.schema.messages import ChatMessage

QUESTION = [ChatMessage("user", "Where?")]
SERVER = Path(__file__).with_name("scripted_server.py")


@contextlib.contextmanager
def scripted_server(tokens: int, pace: float) -> Iterator[str]:
    """Run the scripted server and give its address."""
    command = [sys.executable, str(SERVER), str(tokens), str(pace)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        process.stdin.close()
        process.wait(10)


def blocking(llm: OpenAILike) -> int:
    """Read one stream, blocking; return its tokens."""
    return sum(isinstance(item, Delta) for item in llm.stream(QUESTION, Sampling()))


async def asynchronous(llm: OpenAILike) -> int:
    """Read one stream without blocking; return its tokens."""
    return sum([isinstance(item, Delta) async for item in llm.astream(QUESTION, Sampling())])


def cost_of_a_token() -> dict[str, float]:
    """Return the microseconds of processor time of one token, on both sides, as fast as the server can send them."""
    with scripted_server(5000, 1e9) as url, asyncio.Runner() as runner:
        llm = OpenAILike(api_base=url)

        def measured(read: Callable[[], int]) -> float:
            read()  # the first opens the connection and asks what is served
            before = time.process_time()
            tokens = read()
            return round((time.process_time() - before) / tokens * 1e6, 1)

        costs = {
            "blocking_us_a_token": measured(lambda: blocking(llm)),
            "asynchronous_us_a_token": measured(lambda: runner.run(asynchronous(llm))),
        }
        llm.close()
    return costs


def many_streams(count: int, seconds: int = 15, pace: float = 20.0, opened: int = 200) -> dict[str, float]:
    """Read many streams at once in one event loop; return the cores used and the delays of tokens in seconds.

    Args:
        count: How many; `opened` of them begin in each second.
        seconds: How long each lasts.
        pace: Its tokens a second.
        opened: As many begin in a second.
    """
    delays: list[float] = []

    async def one(llm: OpenAILike) -> None:
        async for item in llm.astream(QUESTION, Sampling()):
            if isinstance(item, Delta):
                delays.append(time.monotonic() - int(item.text) / 1e6)  # noqa: PERF401 - each at its own moment

    async def main(llm: OpenAILike) -> None:
        await llm.ametadata()
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                group.create_task(one(llm))
                if number % 4 == 3:
                    await asyncio.sleep(4 / opened)

    with scripted_server(int(seconds * pace), pace) as url:
        llm = OpenAILike(api_base=url)
        before, begin = time.process_time(), time.monotonic()
        asyncio.run(main(llm))
        processor = time.process_time() - before
        cores = processor / (time.monotonic() - begin)
    delays.sort()
    return {
        "streams": count,
        "tokens": len(delays),
        "cores": round(cores, 2),
        "us_a_token": round(processor / len(delays) * 1e6, 1),
        "delay_p50": round(delays[len(delays) // 2], 4),
        "delay_p99": round(delays[len(delays) * 99 // 100], 4),
        "delay_max": round(delays[-1], 4),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1000, help="streams read at once")
    arguments = parser.parse_args()
    print(json.dumps(cost_of_a_token()))
    print(json.dumps(many_streams(arguments.streams)))
