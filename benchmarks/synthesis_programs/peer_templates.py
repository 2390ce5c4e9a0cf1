"""Prints the peer's own chat templates for a question and its refinement, by its interpreter, as a JSON object."""

from __future__ import annotations

import json

from llama_index.core.prompts.chat_prompts import CHAT_REFINE_PROMPT, CHAT_TEXT_QA_PROMPT

if __name__ == "__main__":
    templates = {"text_qa_template": CHAT_TEXT_QA_PROMPT, "refine_template": CHAT_REFINE_PROMPT}
    print(
        json.dumps(
            {
                name: [[message.role.value, message.content] for message in template.message_templates]
                for name, template in templates.items()
            }
        )
    )
