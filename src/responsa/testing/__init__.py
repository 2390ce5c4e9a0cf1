"""What users' own tests can build on: a scripted LLM, a deterministic embedder, the contracts of the stores.

The contracts, `responsa.testing.store_contract` and `responsa.testing.chat_store_contract`, need pytest and are
imported from their own modules.
"""

from .embedder import BagOfWordsEmbedder
from .scripted_llm import ScriptedLLM

__all__ = ["BagOfWordsEmbedder", "ScriptedLLM"]
