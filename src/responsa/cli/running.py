"""Running one command of the program."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from typer import Exit, TyperException

from .usage_errors import explain

if TYPE_CHECKING:
    from .terminal import Terminal

OK: Final = 0


def run(program: Any, words: Sequence[str], terminal: Terminal) -> int:
    """Run one command of `program` and return its exit code; what it fails with is raised."""
    try:
        with program.make_context("responsa", list(words), obj=terminal) as context:
            code = program.invoke(context)
    except TyperException as error:
        explain(error, terminal)
        return error.exit_code
    except Exit as end:
        return end.exit_code
    sys.stdout.flush()
    return code if isinstance(code, int) else OK
