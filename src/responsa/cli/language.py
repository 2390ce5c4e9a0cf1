"""Which language the program speaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from responsa.schema.errors import InvalidOption

Language: TypeAlias = Literal["en", "zh"]
LANGUAGES: Final = ("en", "zh")
OPTION: Final = "--lang"


def take_language(words: Sequence[str], environment: Mapping[str, str]) -> tuple[Language, list[str]]:
    """Return the language, and the command line without `--lang`, which may stand anywhere before a `--`.

    Without the option the environment decides: RESPONSA_LANG, then LC_ALL, then LANG.

    Raises:
        InvalidOption: `--lang` names another language.
    """
    rest: list[str] = []
    language = environment_language(environment)
    waiting = iter(words)
    for word in waiting:
        if word == "--":
            rest += [word, *waiting]
        elif word == OPTION:
            value = next(waiting, None)
            if value is None:
                rest.append(word)
            else:
                language = _checked(value)
        elif word.startswith(OPTION + "="):
            language = _checked(word.removeprefix(OPTION + "="))
        else:
            rest.append(word)
    return language, rest


def environment_language(environment: Mapping[str, str]) -> Language:
    """Return the language the environment asks for; English where it asks for none that is known."""
    for name in ("RESPONSA_LANG", "LC_ALL", "LANG"):
        value = environment.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def _checked(value: str) -> Language:
    match value.lower():
        case "en":
            return "en"
        case "zh":
            return "zh"
        case _:
            raise InvalidOption(OPTION, value, " or ".join(LANGUAGES))
