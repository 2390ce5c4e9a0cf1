"""Prompt templates and their default texts, one file a language."""
