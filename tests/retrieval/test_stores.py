from pathlib import Path

from responsa.retrieval.stores import LanceStore, MemoryStore, Store, StoreMeta
from responsa.testing.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    def make_store(self, directory: Path, meta: StoreMeta) -> Store:
        return MemoryStore(meta)


class TestLanceStore(StoreContract):
    def make_store(self, directory: Path, meta: StoreMeta) -> Store:
        return LanceStore.create(directory, meta)
