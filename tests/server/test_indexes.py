"""Which index is meant where none is named."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.server.library import empty_index

from responsa.server import load_settings
from responsa.server.indexes import Indexes


def test_the_first_index_of_the_settings_stays_the_first_whichever_is_opened_before_it(tmp_path: Path) -> None:
    settings = load_settings(
        {"no_auth": True, "data_dir": tmp_path, "index": f"first={tmp_path / 'first'},second={tmp_path / 'second'}"}
    )
    indexes = Indexes(settings)

    async def scene() -> None:
        await indexes.get("second", make=True)
        assert indexes.names == ("first", "second")
        assert indexes.named(None) == "first"

    asyncio.run(scene())


def test_an_index_that_is_given_open_is_known_beside_those_of_the_settings(tmp_path: Path) -> None:
    settings = load_settings({"no_auth": True, "data_dir": tmp_path, "index": f"first={tmp_path / 'first'}"})
    assert Indexes(settings, {"open": empty_index()}).names == ("first", "open")
