"""A synthesis mode of one's own: it stops at the first pack of passages that holds the answer.

python examples/custom_mode.py
"""

import os

from responsa import BaseSynthesizer, TextNode
from responsa.llms.openai_like import OpenAILike
from responsa.programs import ask
from responsa.prompts import may_refuse, refuses
from responsa.response_synthesizers import show


class FirstFound(BaseSynthesizer):
    """Asks pack by pack. It plans, streams and runs asynchronously like any other mode."""

    mode = "first_found"

    def program(self, task):
        """Answer from the first pack that does not make the model refuse."""
        window = yield from self.window(task)
        shown = yield from show(task, task.prompts.text_qa, window)
        for call in shown.calls("answer", task, hold_back=may_refuse):
            completion = yield from ask(call)
            if not refuses(completion.text):
                return completion.text
        return task.prompts.refusal


llm = OpenAILike(api_base=os.environ.get("API_BASE", "http://127.0.0.1:8080/v1"), max_tokens=60)
nodes = [TextNode(f"Shelf {number} holds books about {subject}.") for number, subject in enumerate(["tea", "bees"], 1)]

synthesizer = FirstFound(llm)
print(synthesizer.plan("Which shelf is about bees?", nodes))
for event in synthesizer.stream_events("Which shelf is about bees?", nodes):
    if event.type == "text_delta":
        print(event.text, end="", flush=True)
print()
