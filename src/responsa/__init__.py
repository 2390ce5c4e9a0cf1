"""Responsa: answers from documents, planned before they run and traced to their sources."""

__version__ = "0.1.0"
