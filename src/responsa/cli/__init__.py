"""The terminal program `responsa`: thin commands over the same programs that Python users run."""

from .entry import main

__all__ = ["main"]
