"""Files in, a planned, streamed and cited answer out.

python examples/ask_documents.py [DIRECTORY] [QUESTION]
"""

import os
import sys

from responsa import SimpleDirectoryReader, VectorStoreIndex, samples
from responsa.llms.openai_like import OpenAILike

directory = sys.argv[1] if len(sys.argv) > 1 else str(samples.path() / "zh" / "rust-book")
question = sys.argv[2] if len(sys.argv) > 2 else "怎样卸载 Rust？"

reader = SimpleDirectoryReader(directory, recursive=True, num_files_limit=3)
index = VectorStoreIndex.from_documents(reader.load_data())

llm = OpenAILike(api_base=os.environ.get("API_BASE", "http://127.0.0.1:8080/v1"), max_tokens=120)
engine = index.as_query_engine(llm, similarity_top_k=2)

print(engine.plan(question))
for event in engine.stream_events(question):
    if event.type == "text_delta":
        print(event.text, end="", flush=True)
    elif event.type == "done":
        print()
        print(event.response.get_formatted_sources())
