"""An answer as an object of a Pydantic model, filled while it streams.

python examples/typed_answer.py
"""

import os

from pydantic import BaseModel

from responsa import TextNode, get_response_synthesizer
from responsa.llms.openai_like import OpenAILike


class LoanRule(BaseModel):
    """What a library allows."""

    books: int
    weeks: int


llm = OpenAILike(api_base=os.environ.get("API_BASE", "http://127.0.0.1:8080/v1"), max_tokens=60)
synthesizer = get_response_synthesizer(llm, output_cls=LoanRule)
rules = TextNode("A member can borrow up to eight books, for four weeks.", id_="rules")

response = synthesizer.synthesize("What may a member borrow?", [rules])
print(repr(response.value))
