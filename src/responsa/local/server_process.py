"""The program of a model server's own process: `python -m responsa.local.server_process`.

It reads its settings as one line of JSON from standard input, writes the server's address as one line of JSON to
standard output, and ends when standard input closes: when the parent says so, and also when the parent dies.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO

# Memory for prompts of slots that went to another conversation, in MiB.
PROMPT_CACHE_MIB = 1024

# The native server's log is written behind, by a thread of its own, and says why the server failed; in seconds.
LOG_SECONDS = 0.5


def parameters(settings: dict[str, Any]) -> Any:
    """Return the packaged server's parameters for the settings that `LlamaServer` sends."""
    import xllamacpp

    window, slots = settings["context_window"], settings["slots"]
    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.model_alias = [settings["alias"]]
    params.hostnames = [settings["host"]]
    params.port = settings["port"]
    params.n_ctx = window * slots
    params.n_parallel = slots
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.api_keys = [settings["api_key"]] if settings["api_key"] else []
    params.endpoint_metrics = params.endpoint_slots = params.endpoint_props = True
    params.cache_ram_mib = PROMPT_CACHE_MIB
    if settings["pooling"] is not None:
        params.embedding = True
        params.pooling_type = getattr(xllamacpp.llama_pooling_type, f"LLAMA_POOLING_TYPE_{settings['pooling'].upper()}")
        # A text must fit one physical batch to be embedded.
        params.n_batch = params.n_ubatch = window
    return params


def main() -> None:
    """Serve until standard input closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt at the terminal is the parent's to handle
    settings = json.loads(sys.stdin.buffer.readline())
    # The native server may print: what the parent reads must be ours alone.
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    if settings["program"] is not None:
        os._exit(_run_program(settings, report))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import xllamacpp

    try:
        server = xllamacpp.Server(parameters(settings))  # returns when the model is loaded
    except Exception as error:  # whatever it is, the native threads must not take part in the exit
        time.sleep(LOG_SECONDS)
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(1)
    _tell(report, server.listening_address)
    threading.Event().wait()


def _run_program(settings: dict[str, Any], report: TextIO) -> int:
    from .server_program import ServerProgram

    try:
        program = ServerProgram(settings)
    except OSError as error:
        sys.stderr.write(f"{settings['program']}: {error.strerror}\n")
        return 1
    threading.Thread(target=_end_with_parent, args=[program.end], daemon=True).start()
    if program.await_port():
        _tell(report, program.address)
    return program.wait() or 1


def _tell(report: TextIO, address: str) -> None:
    report.write(json.dumps({"address": address}) + "\n")
    report.flush()


def _end_with_parent(end: Callable[[], None] | None = None) -> None:
    sys.stdin.buffer.read()
    if end is not None:
        end()
    os._exit(0)  # at once, whatever native threads are doing


if __name__ == "__main__":
    main()
