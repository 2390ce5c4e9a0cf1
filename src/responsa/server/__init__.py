"""The answer service: the same programs over HTTP.

A request goes through these rooms:

- `settings.py`, `binding.py`, `serving.py`: how the service is configured, where it may listen, and its process.
- `app.py`: the FastAPI application; `service.py`: what its routes share (model, indexes, runs, keys).
- `indexes.py`: the indexes served, by name; `readiness.py`: whether the service's parts can be used.
- `operation/`: what the operator sees: the log, the numbers, connections that are cut, the end.
- `security/`: keys, limits, the bearer check, body limits, headers, origins.
- `routes/`: one file a group of paths, thin; `models/`: what their requests and replies look like.
- `answering/`: from a request to a program, and from a response to its JSON; `openai/`: the same as chat completions.
- `sessions/`: conversations; `documents/`, `jobs/`: what goes into the indexes; `records/`: where those two are kept.
- `runs/`: answers under way, apart from any connection: the queue, the event log, the event stream.
- `errors.py`: every error as one JSON shape with its status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from .app import create_app
    from .service import Service
    from .settings import ServerSettings, load_settings

__all__ = ["ServerSettings", "Service", "create_app", "load_settings"]

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(
        __name__,
        {"ServerSettings": ".settings", "Service": ".service", "create_app": ".app", "load_settings": ".settings"},
    )
