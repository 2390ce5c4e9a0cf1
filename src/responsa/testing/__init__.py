"""What users' own tests can build on: a scripted LLM, a deterministic embedder, the store contract."""

from .scripted_llm import ScriptedLLM

__all__ = ["ScriptedLLM"]
