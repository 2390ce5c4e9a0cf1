"""A chat that rewrites follow-up questions, and keeps its turns in a file: run it twice.

python examples/conversation.py [FILE.db]
"""

import os
import sys

from responsa import Document, VectorStoreIndex
from responsa.llms.openai_like import OpenAILike
from responsa.memory import Memory, SQLAlchemyChatStore

RULES = [
    Document("A member can borrow up to eight books at a time.", id_="books"),
    Document("Books are lent for four weeks. A loan can be renewed twice.", id_="time"),
    Document("A book that comes back late costs 20 cents a day.", id_="fees"),
]

llm = OpenAILike(api_base=os.environ.get("API_BASE", "http://127.0.0.1:8080/v1"), max_tokens=60)
index = VectorStoreIndex.from_documents(RULES)
store = SQLAlchemyChatStore(f"sqlite:///{sys.argv[1] if len(sys.argv) > 1 else 'conversation.db'}")
memory = Memory.from_defaults(session_id="library", token_limit=1000, chat_store=store)
engine = index.as_chat_engine(chat_mode="best", llm=llm, memory=memory, similarity_top_k=2)

print(f"{len(engine.chat_history)} messages so far")
for message in ("How many books may I borrow?", "And for how long?"):
    response = engine.chat(message)
    print(f"\n> {message}\n{response}\n(searched for: {response.searched_with})")
store.close()
