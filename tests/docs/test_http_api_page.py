"""The curl examples of `docs/http-api.md`, run against a service; both languages' pages name what there is."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path

import pytest
from tests.server.support import SteppedLLM, a_service, an_index, on_a_socket

from responsa.response_synthesizers import ResponseMode
from responsa.server import ServerSettings
from responsa.server.models.requests import AnswerRequest
from responsa.testing import ScriptedLLM

PAGE, CHINESE = (
    (Path(__file__).parents[2] / "docs" / name).read_text("utf-8") for name in ("http-api.md", "http-api.zh-CN.md")
)
BLOCKS = re.compile(r"```bash\n(.*?)```", re.DOTALL)
EXAMPLES = [block for block in BLOCKS.findall(PAGE) if "curl" in block]
of_each_page = pytest.mark.parametrize("page", [PAGE, CHINESE], ids=["en", "zh"])


@pytest.mark.skipif(shutil.which("curl") is None or shutil.which("bash") is None, reason="curl and bash are needed")
@pytest.mark.parametrize("example", EXAMPLES, ids=[re.findall(r"URL/(\S+)", example)[0] for example in EXAMPLES])
def test_an_example_works_as_it_stands(tmp_path: Path, example: str) -> None:
    async def scene() -> None:
        is_of_one_under_way = "ANSWER_ID" in example
        llm = (
            SteppedLLM(["Oil "] * 12) if is_of_one_under_way else ScriptedLLM("The X200 pump needs ISO VG 46 oil [1].")
        )
        service = a_service(tmp_path, llm, no_auth=False, indexes={"docs": an_index()})
        _, key = service.keys.add("me", ["write"])
        async with on_a_socket(service) as client:
            variables = {"URL": str(client.base_url), "KEY": key}
            if isinstance(llm, SteppedLLM):
                headers = {"Authorization": f"Bearer {key}"}
                body = {"question": "Which oil?", "nodes": [{"text": "Oil."}]}
                asked = asyncio.ensure_future(client.post("/v1/answer", json=body, headers=headers))
                await llm.begun.wait()
                variables["ANSWER_ID"] = service.runs.all()[0].run_id
                llm.allow(0 if "DELETE" in example else 12)
            script = re.sub(r"\bcurl\b", "curl -sS --fail-with-body", example)
            process = await asyncio.create_subprocess_exec(
                *("bash", "-euc", script),
                cwd=tmp_path,
                env={**os.environ, **variables, "NO_PROXY": "127.0.0.1"},
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            out, err = await process.communicate()
            assert process.returncode == 0, out + err
            assert b"{" in out or b"# HELP" in out
            if is_of_one_under_way:
                await asked

    asyncio.run(scene())


def test_both_pages_have_the_same_examples() -> None:
    assert BLOCKS.findall(CHINESE) == BLOCKS.findall(PAGE)


def test_both_pages_name_the_same_things() -> None:
    names = re.compile(r"`([^`\n]+)`")
    assert set(names.findall(CHINESE)) == set(names.findall(PAGE))


@of_each_page
def test_every_field_and_mode_of_an_answer_is_named(page: str) -> None:
    for name in AnswerRequest.model_fields:
        assert f"| `{name}` |" in page
    for mode in ResponseMode:
        assert f"`{mode.value}`" in page


@of_each_page
def test_every_setting_named_is_one(page: str) -> None:
    table = page.partition("| setting |" if page is PAGE else "| 设置 |")[2]
    assert table
    for row in table.splitlines()[2:]:
        for name in re.findall(r"`(\w+)`", row.split("|")[1]) if row.startswith("|") else ():
            assert name in ServerSettings.model_fields
