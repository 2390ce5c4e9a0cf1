"""What one can type in a conversation beside messages: a slash and a word."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from responsa.chat_engine.types import MODES, chat_mode
from responsa.schema.errors import ResponsaError, SessionNotFound

from .plan_view import write_calls
from .sources_view import write_sources, write_stored_sources
from .tables import padded, width
from .trace_view import write_trace

if TYPE_CHECKING:
    from .chat_session import ChatSession
    from .terminal import Terminal

# A path such as /etc/hosts begins no command: a command is one word of letters.
_COMMAND: Final = re.compile(r"/([A-Za-z]+)(?:\s+(.*))?", re.DOTALL)
_WITH_ARGUMENT: Final = ("plan", "mode", "export")
_OTHER_NAMES: Final = {"exit": "quit", "q": "quit", "h": "help"}


class Commands:
    """The commands of a conversation.

    Args:
        talk: The conversation.
        terminal: Where they write.

    Attributes:
        ended: Whether the conversation is to end.
    """

    def __init__(self, talk: ChatSession, terminal: Terminal) -> None:
        self.ended = False
        self._talk = talk
        self._terminal = terminal
        self._commands: dict[str, Callable[[str], bool]] = {
            "plan": self._plan,
            "sources": self._sources,
            "trace": self._trace,
            "reset": self._reset,
            "mode": self._mode,
            "export": self._export,
            "help": self._help,
            "quit": self._quit,
        }

    def knows(self, line: str) -> bool:
        """Tell whether a line is meant as a command."""
        return _COMMAND.fullmatch(line.rstrip()) is not None

    def run(self, line: str) -> bool:
        """Do what a command says; return whether that worked."""
        found = _COMMAND.fullmatch(line.rstrip())
        assert found is not None
        name, argument = found[1].lower(), (found[2] or "").strip()
        name = _OTHER_NAMES.get(name, name)
        if name not in self._commands:
            return self._refused("chat_no_command", name=name)
        if argument and name not in _WITH_ARGUMENT:
            return self._refused("chat_no_argument", name=name)
        try:
            return self._commands[name](argument)
        except ResponsaError as error:
            self._terminal.error(error.render(self._terminal.language))
        except OSError as error:
            if error.filename is None:  # not a file of the user's: the terminal itself
                raise
            self._terminal.error(f"{error.filename}: {error.strerror or error}")
        return False

    def _plan(self, question: str) -> bool:
        plan = self._talk.engine.plan(question) if question else self._talk.plan
        if plan is None:
            return self._refused("chat_no_answer")
        write_calls(plan, self._terminal)
        return True

    def _sources(self, _: str) -> bool:
        if self._talk.response is not None:
            if self._talk.response.source_nodes:
                write_sources(self._talk.response, self._terminal)
            else:
                self._terminal.note("chat_no_sources")
            return True
        answers = [message for message in self._talk.memory.recover() if message.role.value == "assistant"]
        if not answers:
            return self._refused("chat_no_answer")
        if not write_stored_sources(answers[-1].extra.get("sources"), self._terminal):
            self._terminal.note("chat_no_sources")
        return True

    def _trace(self, _: str) -> bool:
        if self._talk.response is None:
            return self._refused("chat_no_trace")
        write_trace(self._talk.response.trace, self._terminal)
        return True

    def _reset(self, _: str) -> bool:
        self._talk.reset()
        self._terminal.note("chat_reset")
        return True

    def _mode(self, name: str) -> bool:
        if name:
            self._talk.use(chat_mode(name))
        self._terminal.note("chat_modes", mode=self._talk.mode.value, modes=", ".join(MODES))
        return True

    def _export(self, name: str) -> bool:
        from responsa.memory import export_session

        form = "json" if name.endswith(".json") else "markdown"
        try:
            text = export_session(self._talk.memory.chat_store, self._talk.name, form, language=self._terminal.language)
        except SessionNotFound:
            return self._refused("chat_no_answer")
        if not name:
            self._terminal.write(text, end="")
            return True
        path = Path(name).expanduser()
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            return self._refused("chat_file_exists", path=path)
        self._terminal.note("chat_exported", path=path)
        return True

    def _help(self, _: str) -> bool:
        rows = []
        for name in self._commands:
            argument = " " + self._terminal.text(f"chat_argument_{name}") if name in _WITH_ARGUMENT else ""
            rows.append((f"/{name}{argument}", self._terminal.text(f"chat_help_{name}")))
        wide = max(width(shown) for shown, _ in rows)
        for shown, meaning in rows:
            self._terminal.write(f"{padded(shown, wide)}  {meaning}")
        return True

    def _quit(self, _: str) -> bool:
        self.ended = True
        return True

    def _refused(self, text: str, /, **values: object) -> bool:
        self._terminal.error(self._terminal.text(text, **values))
        return False
