"""Running models on this machine: the packaged llama-server, and model files from packages. Loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from .catalog import MODELS, PackagedModel, find_model
    from .hub import HubFile
    from .llama_server import LlamaServer
    from .models import fetch, model_path, models_dir

__all__ = [
    "MODELS",
    "HubFile",
    "LlamaServer",
    "PackagedModel",
    "fetch",
    "find_model",
    "model_path",
    "models_dir",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(
        __name__,
        {
            "MODELS": ".catalog",
            "HubFile": ".hub",
            "LlamaServer": ".llama_server",
            "PackagedModel": ".catalog",
            "fetch": ".models",
            "find_model": ".catalog",
            "model_path": ".models",
            "models_dir": ".models",
        },
    )
