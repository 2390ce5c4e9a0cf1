"""What is public is said on purpose: every package lists its names, and every name is there and documented."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest

import responsa

ROOT = Path(__file__).parents[1]
# Run by alembic, imported by nobody.
NOT_IMPORTED = "responsa.memory.chat_stores.migrations"
PACKAGES = [
    "responsa",
    *(found.name for found in walk_packages(responsa.__path__, "responsa.") if found.ispkg),
]
PUBLIC = [name for name in PACKAGES if not name.startswith(NOT_IMPORTED)]
NAMES = [(package, name) for package in PUBLIC for name in getattr(import_module(package), "__all__", ())]


def defined_here(package: ModuleType) -> set[str]:
    """Return the public names of a package that are its own or its parts', and no modules."""
    return {
        name
        for name, value in vars(package).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and str(getattr(value, "__module__", "")).startswith("responsa")
        and name != "lazy_exports"
    }


@pytest.mark.parametrize("package", PUBLIC)
def test_a_package_lists_all_its_public_names_once(package: str) -> None:
    module = import_module(package)
    assert "__all__" in vars(module)
    assert len(set(module.__all__)) == len(module.__all__)
    assert defined_here(module) <= set(module.__all__)


@pytest.mark.parametrize("package", PUBLIC)
def test_a_listed_name_is_there_and_no_other(package: str) -> None:
    module = import_module(package)
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.no_such_name


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_a_listed_class_or_function_says_what_it_is(package: str, name: str) -> None:
    value: Any = getattr(import_module(package), name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert inspect.getdoc(value), f"{package}.{name}"


@pytest.mark.parametrize("name", responsa.__all__)
def test_the_documentation_mentions_every_name_of_the_first_package(name: str) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert any(re.search(rf"\b{name}\b", page.read_text(encoding="utf-8")) for page in pages)
