"""Settings: flags before the environment before the file, wrong ones named, secrets never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from responsa.schema.errors import InvalidOption, UnknownOption
from responsa.server import ServerSettings, load_settings
from responsa.server.settings import shown


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where no settings are."""
    monkeypatch.chdir(tmp_path)
    for name in ServerSettings.model_fields:
        monkeypatch.delenv(f"RESPONSA_{name.upper()}", raising=False)


def test_flags_come_before_the_environment_and_that_before_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('host = "10.0.0.1"\nport = 1\nmodel = "from file"\n')
    monkeypatch.setenv("RESPONSA_PORT", "2")
    monkeypatch.setenv("RESPONSA_MODEL", "from environment")
    settings = load_settings({"model": "from flag", "host": None}, file=file)
    assert (settings.host, settings.port, settings.model) == ("10.0.0.1", 2, "from flag")


def test_the_usual_file_is_read_where_none_is_named(tmp_path: Path) -> None:
    assert load_settings({}).port == 8000
    (tmp_path / ".responsa").mkdir()
    (tmp_path / ".responsa" / "settings.toml").write_text("port = 9000")
    assert load_settings({}).port == 9000


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("docs", {"docs": "docs"}),
        ("here/docs/", {"docs": "here/docs"}),
        ("manual=a/b", {"manual": "a/b"}),
        ("manual=a/b, docs", {"manual": "a/b", "docs": "docs"}),
        (["x=1", "2"], {"x": "1", "2": "2"}),
        ({"x": "a,b=c"}, {"x": "a,b=c"}),
        ("", {}),
    ],
)
def test_indexes_have_names(given: object, named: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings({"index": given}).index == {name: Path(place) for name, place in named.items()}
    if isinstance(given, str):
        monkeypatch.setenv("RESPONSA_INDEX", given)
        assert load_settings({}).index == {name: Path(place) for name, place in named.items()}


@pytest.mark.parametrize("given", ["../x=a", "a b=c", "a=1,a=2", "=x", "a/b=c"])
def test_a_name_that_could_be_taken_for_a_path_is_refused(given: str) -> None:
    with pytest.raises(InvalidOption, match="index"):
        load_settings({"index": given})


@pytest.mark.parametrize(
    ("text", "error", "name"),
    [
        ("prot = 1", UnknownOption, "prot"),
        ("port = 70000", InvalidOption, "port"),
        ('port = "many"', InvalidOption, "port"),
        ("grace_seconds = -1", InvalidOption, "grace_seconds"),
        ("port = ", InvalidOption, "settings file"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, error: type[Exception], name: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(error, match=name):
        load_settings({}, file=file)
    with pytest.raises(InvalidOption, match="settings file"):
        load_settings({}, file=tmp_path / "missing.toml")


def test_secrets_are_shown_by_no_way_of_printing(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    base = "http://anna:hunter2@models.example/v1?token=hunter2"
    file.write_text(f'api_key = "hunter2"\nembed_api_key = "hunter2"\napi_base = "{base}"\n')
    settings = load_settings({}, file=file)
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == "hunter2"
    assert "hunter2" not in f"{shown(settings)}"
    assert shown(settings)["api_key"] == "(set)"
    assert shown(settings)["embed_api_base"] is None
    assert shown(settings)["api_base"] == "http://models.example/v1"
    file.write_text('api_key = ["hunter2"]')
    with pytest.raises(InvalidOption) as caught:
        load_settings({}, file=file)
    assert "hunter2" not in str(caught.value)
