"""What tests of every room share: a fault server; a real llama-server and a real PostgreSQL, started once a session."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults import FaultServer
from tests.postgres import postgres_server, postgres_uri  # noqa: F401 - fixtures

from responsa.llms.openai_like import OpenAILike
from responsa.local.llama_server import LlamaServer
from responsa.local.models import fetch
from responsa.schema.errors import ModelFetchFailed

# A shell, or nohup, starts a program in the background deaf to these, and so would be the programs that tests start: a
# handler, of whatever kind, is not handed on to them.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)


@pytest.fixture
def faults() -> Iterator[FaultServer]:
    """A server that answers what the test tells it to."""
    with FaultServer() as server:
        yield server


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The file of a small real model; without its package no real server can run."""
    try:
        return fetch("smollm2-135m")
    except ModelFetchFailed as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))


@pytest.fixture(scope="session")
def llama_server(smollm2: Path) -> Iterator[LlamaServer]:
    """A real llama-server with two slots of 2048 tokens."""
    with LlamaServer(smollm2, alias="smollm2", slots=2, context_window=2048, threads=1) as server:
        yield server


@pytest.fixture(scope="session")
def embedding_server(smollm2: Path) -> Iterator[LlamaServer]:
    """The same model as an embedding server: good for the protocol, not for meaning."""
    with LlamaServer(smollm2, alias="smollm2-embed", context_window=512, threads=1, embeddings=True) as server:
        yield server


@pytest.fixture
def llm(llama_server: LlamaServer) -> Iterator[OpenAILike]:
    """The real model behind the real server, as repeatable as it gets."""
    model = OpenAILike(llama_server.model, api_base=llama_server.url, temperature=0.0, seed=1)
    yield model
    model.close()
