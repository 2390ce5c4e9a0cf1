"""What the operator sees of the service: its log, its numbers, and its end.

- `requests.py`: the id, the log's line and the numbers of each request; `logs.py`: the log as JSON, without secrets.
- `failures.py`: what fails without a name, noted and replied like every other failure.
- `metrics.py`: the numbers, for Prometheus.
- `stalled.py`: clients that stop reading, and whose connections are cut.
- `draining.py`: the end: streams finish within a limit, the others are told.
"""

from __future__ import annotations

from .logs import logging_to_stderr

__all__ = ["logging_to_stderr"]
