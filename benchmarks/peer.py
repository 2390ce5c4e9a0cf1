"""The peer the benchmarks compare with, in an environment of its own in the user's cache."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from responsa.local.models import models_dir

PACKAGES = ("llama-index-core==0.14.23", "llama-index-llms-openai-like==0.8.1")
PROGRAM = Path(__file__).with_name("peer_program.py")


def peer_python() -> Path:
    """Return the interpreter of the peer's environment, which is made and filled the first time."""
    home = models_dir().parent / "benchmarks" / "-".join(PACKAGES).replace("==", "-")
    python = home / "bin" / "python"
    ready = home / ".ready"
    if not ready.exists():
        print(f"installing {', '.join(PACKAGES)} in {home}", file=sys.stderr)
        venv.create(home, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
        subprocess.run(command, check=True)
        ready.touch()
    return python
