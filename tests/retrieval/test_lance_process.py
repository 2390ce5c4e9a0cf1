import os
import subprocess
import sys

READ = """
import os
from responsa.retrieval.stores.lance_process import prepare_process, release_memory
prepare_process()
release_memory()
print(os.environ["LANCE_IO_THREADS"], os.environ["LANCE_DEFAULT_IO_BUFFER_SIZE"])
"""


def test_lancedb_is_bounded_unless_the_environment_says_otherwise() -> None:
    def told(**more: str) -> list[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LANCE_")} | more
        done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True, env=environment)
        return done.stdout.split()

    assert told() == ["2", str(16 << 20)]
    assert told(LANCE_IO_THREADS="3", MALLOC_ARENA_MAX="8") == ["3", str(16 << 20)]
