"""Models of the OpenAI-compatible face: an index and a mode, such as `docs/compact`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from responsa.response_synthesizers import ResponseMode
from responsa.schema.errors import UnknownModel

# A mode that gives no text is no model to talk to.
MODES: Final = tuple(mode for mode in ResponseMode if mode is not ResponseMode.NO_TEXT)
_LONGEST: Final = 128


def model_names(indexes: Sequence[str]) -> list[str]:
    """Return the models to choose from: every index with every mode; without an index, what needs none."""
    if not indexes:
        return [ResponseMode.GENERATION.value]
    ordered = sorted(MODES, key=lambda mode: mode is not ResponseMode.COMPACT)
    return [f"{index}/{mode.value}" for index in indexes for mode in ordered]


def chosen(model: str, indexes: Sequence[str]) -> tuple[str | None, ResponseMode]:
    """Return the index and the mode that a model's name stands for.

    An index alone is answered from in the compact mode, a mode alone from the first index; where an index is called
    as a mode is, it is the index.

    Raises:
        UnknownModel: It is neither.
    """
    index, slash, mode = model.partition("/")
    modes = {known.value: known for known in MODES}
    if slash and index in indexes and mode in modes:
        return index, modes[mode]
    if not slash and model in indexes:
        return model, ResponseMode.COMPACT
    if not slash and model in modes:
        return None, modes[model]
    raise UnknownModel(model[:_LONGEST], tuple(model_names(indexes)))
