"""What is wrong with a command line, in the language spoken."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from typer import TyperException

    from .terminal import Terminal

# The parser has no kind of its own for it: the name and the nearest names stand in its sentence alone.
_UNKNOWN_COMMAND: Final = re.compile(r"No such command '(?P<name>.+?)'\.(?: Did you mean (?P<near>.+)\?)?")


def explain(error: TyperException, terminal: Terminal) -> None:
    """Write how the command is used and what is wrong with this use of it."""
    context: Any = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        terminal.remark(error.format_message(), "")
        return
    if context is not None:
        usage = " ".join(context.command.collect_usage_pieces(context))
        terminal.remark(f"{terminal.text('usage')}{context.command_path} {usage}", "")
        terminal.remark(terminal.text("see_help", command=context.command_path), "")
    terminal.error(_message(error, terminal), "wrong_use")


def _message(error: Any, terminal: Terminal) -> str:
    match type(error).__name__:
        case "NoSuchOption":
            hint = _hint(error.possibilities or (), terminal)
            return terminal.text("no_such_option", name=error.option_name, hint=hint)
        case "MissingParameter":
            return terminal.text("missing", name=_name(error))
        case "BadParameter":
            return terminal.text("invalid", name=_name(error), message=error.message)
        case "UsageError" if (unknown := _UNKNOWN_COMMAND.fullmatch(error.message)) is not None:
            near = re.findall(r"'(.+?)'", unknown["near"] or "")
            return terminal.text("no_such_command", name=unknown["name"], hint=_hint(near, terminal))
        case _:
            return str(error.format_message())


def _hint(names: Sequence[str], terminal: Terminal) -> str:
    return terminal.text("did_you_mean", names=terminal.text("comma").join(names)) if names else ""


def _name(error: Any) -> str:
    if error.param is None:
        return str(error.param_hint or "")
    if error.param.param_type_name == "option":
        return str(error.param.opts[-1])
    return str(error.param.metavar or error.param.name)
