"""No index: your own passages through four modes, what each would cost, and what it answered.

python examples/your_own_passages.py
"""

import os

from responsa import NodeWithScore, TextNode, get_response_synthesizer
from responsa.llms.openai_like import OpenAILike

PASSAGES = [
    "A member can borrow up to eight books at a time.",
    "Books are lent for four weeks. A loan can be renewed twice unless somebody waits for the book.",
    "A book that comes back late costs 20 cents a day.",
]
QUESTION = "How many books can I borrow, and for how long?"

llm = OpenAILike(api_base=os.environ.get("API_BASE", "http://127.0.0.1:8080/v1"), max_tokens=60)
nodes = [NodeWithScore(TextNode(text, id_=f"rule {number}"), 1.0) for number, text in enumerate(PASSAGES, 1)]

for mode in ("compact", "refine", "accumulate", "tree_summarize"):
    synthesizer = get_response_synthesizer(llm, response_mode=mode)
    plan = synthesizer.plan(QUESTION, nodes)
    response = synthesizer.synthesize(QUESTION, nodes)
    print(f"\n{mode}: {len(plan.calls)} calls planned, {len(response.trace)} made, {plan.prompt_tokens} prompt tokens")
    print(response)
