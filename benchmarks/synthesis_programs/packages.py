"""Prints what a package needs, itself included, as a JSON object: the number of packages and their megabytes."""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement


def needed(name: str, extras: frozenset[str] = frozenset()) -> dict[str, Distribution]:
    """Return the package and all that it requires on this machine, by normalized name."""
    found: dict[str, Distribution] = {}
    waiting = [(name, extras)]
    while waiting:
        name, extras = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found and not extras:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        found[key] = package
        for text in package.requires or ():
            wanted = Requirement(text)
            environments = [{"extra": extra} for extra in extras] or [{"extra": ""}]
            if wanted.marker is None or any(wanted.marker.evaluate(one) for one in environments):
                waiting.append((wanted.name, frozenset(wanted.extras)))
    return found


def megabytes(package: Distribution, source: Path | None) -> float:
    """Return the size of a package's files; of the one that is developed here, its sources'."""
    files = [Path(str(package.locate_file(file))) for file in package.files or ()]
    if source is not None:
        files = [path for path in source.rglob("*") if "__pycache__" not in path.parts]
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


if __name__ == "__main__":
    name, *sources = sys.argv[1:]
    packages = needed(name)
    own = {name: Path(sources[0])} if sources else {}
    sizes = {key: megabytes(package, own.get(key)) for key, package in packages.items()}
    print(json.dumps({"packages": len(sizes), "megabytes": sum(sizes.values()), "sizes": sizes}))
