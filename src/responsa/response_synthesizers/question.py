"""What a question must be before anything is asked."""

from __future__ import annotations

from typing import Final

from responsa.schema.errors import EmptyQuestion, QuestionTooLong

MAX_QUESTION_CHARACTERS: Final = 32_000


def checked_question(question: str) -> str:
    """Return `question` as it is.

    Raises:
        EmptyQuestion: It holds nothing but white space.
        QuestionTooLong: It has more than `MAX_QUESTION_CHARACTERS` characters.
    """
    if not question.strip():
        raise EmptyQuestion
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise QuestionTooLong(len(question), MAX_QUESTION_CHARACTERS)
    return question
