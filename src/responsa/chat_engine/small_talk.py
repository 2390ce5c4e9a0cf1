"""Greetings and thanks, which need no search: a rule, without a model."""

from __future__ import annotations

import re
from typing import Final

_EN: Final = (
    r"hi|hello|hey|hi there|hello there|good (?:morning|afternoon|evening|day|night)|how are you|"
    r"thanks|thank you|thank you very much|thanks a lot|many thanks|thx|cheers|bye|goodbye|see you|ok|okay|great|"
    r"nice|cool|got it|understood"
)
_ZH: Final = (
    r"你好|您好|你好啊|大家好|嗨|哈喽|早|早上好|上午好|中午好|下午好|晚上好|晚安|在吗|谢谢|谢谢你|谢谢您|多谢|感谢|非常感谢|"
    r"再见|拜拜|好的|好|明白了|知道了|了解|不客气|辛苦了"
)
_SMALL_TALK: Final = re.compile(rf"(?:(?:{_EN}|{_ZH})[\s,，.。!！~～?？、]*){{1,3}}", re.IGNORECASE)


def is_small_talk(message: str) -> bool:
    """Tell whether a message is nothing but a greeting, thanks or a farewell, in English or Chinese."""
    return _SMALL_TALK.fullmatch(message.strip()) is not None
