"""Search words: what keyword search and citation support compare texts by, in English and Chinese.

Chinese is cut into words, a longer one also into its parts (图书馆 gives 图书, 书馆, 图书馆). Latin words are
lower-cased, freed of accents and reduced to their English stem. Numbers and identifiers (`max_tokens`, `v1.2`,
`ISO-8601`) stay whole, followed by their parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import chain
from threading import Lock
from typing import Any, Final

LONGEST_WORD: Final = 64
"""Longer words (encoded data, hostile text) are cut to this many characters."""

MOST_QUERY_WORDS: Final = 512

_HAN: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
# With the punctuation inside: one call cuts a whole passage.
_CHINESE: Final = re.compile(f"([{_HAN}]+(?:\\W+[{_HAN}]+)*)")
# Programming languages whose name ends in a sign; then a word, or an identifier of words joined by one sign each.
_WORD: Final = re.compile(r"\bc\+\+|\b[cf]\#|[^\W_]+(?:(?:[-_.:'’]|::|(?<=\d),(?=\d))[^\W_]+)*", re.ASCII)
_WORD_ANY_SCRIPT: Final = re.compile(_WORD.pattern)
_PART: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_POSSESSIVE: Final = re.compile(r"['’]s$")
_CONTRACTION: Final = re.compile(r"[^\W_]+['’](?:t|re|ve|ll|d|m)")
_CACHE_LIMIT: Final = 200_000


def words(text: str) -> list[str]:
    """Return the search words of `text`, in its order, repetitions kept.

    Texts that differ only in case, width (１２３ and 123), accents or English endings give the same words.

    Args:
        text: English, Chinese, or both, of any length.

    Returns:
        Words without white space, none empty, none longer than `LONGEST_WORD` characters.
    """
    if text.isascii():
        return list(chain.from_iterable(map(_TERMS.__getitem__, _WORD.findall(text.lower()))))
    found: list[str] = []
    cut = _chinese_cutter()
    pieces = _CHINESE.split(unicodedata.normalize("NFKC", text).casefold())
    for position, piece in enumerate(pieces):
        if position % 2:
            found += [word for word in cut(piece) if word.isalnum()]
        elif len(piece) > 1 or piece.isalnum():
            found += chain.from_iterable(map(_TERMS.__getitem__, _WORD_ANY_SCRIPT.findall(piece)))
    return found


def content_words(text: str) -> list[str]:
    """Return the search words of `text` that carry meaning; all of them where none does ("to be or not to be")."""
    found = words(text)
    return [word for word in found if word not in _function_words()] or found


def query_words(query: str) -> list[str]:
    """Return the words a question is searched by: its content words, the first `MOST_QUERY_WORDS` of them."""
    return content_words(query)[:MOST_QUERY_WORDS]


class _Terms(dict[str, tuple[str, ...]]):
    """The search words of each word seen, computed once; forgotten as a whole when there are too many."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        terms = _terms(word)
        if len(word) <= LONGEST_WORD:
            if len(self) >= _CACHE_LIMIT:
                self.clear()
            self[word] = terms
        return terms


_TERMS: Final = _Terms()


def _terms(word: str) -> tuple[str, ...]:
    word = _without_accents(_POSSESSIVE.sub("", word))
    if word.isalpha():
        return (_stem(word[:LONGEST_WORD]),)
    if _NUMBER.fullmatch(word):
        return (word.replace(",", "")[:LONGEST_WORD],)
    whole = word.replace("’", "'")[:LONGEST_WORD]
    parts = _PART.findall(word)
    if len(parts) < 2 or _CONTRACTION.fullmatch(word):
        return (whole,)
    return (whole, *(term for part in parts if len(part) > 1 for term in _terms(part)))


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFKD", word)
    # Only Latin: elsewhere a combining mark is part of the letter.
    if not any("a" <= letter <= "z" for letter in letters):
        return word
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


_STEMMER_LOCK: Final = Lock()  # the stemmer keeps the word it works on in itself


def _stem(word: str) -> str:
    if not word.isascii():
        return word
    with _STEMMER_LOCK:
        return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    from Stemmer import Stemmer

    return Stemmer("english", 0)  # without its own cache: there is one above


@cache
def _chinese_cutter() -> Callable[[str], list[str]]:
    from rjieba import Jieba

    cutter: Callable[[str], list[str]] = Jieba().cut_for_search
    return cutter


@cache
def _function_words() -> frozenset[str]:
    return frozenset(words(_FUNCTION_WORDS_EN)) | frozenset(_FUNCTION_WORDS_ZH.split())


_FUNCTION_WORDS_EN: Final = (
    "a about all also am an and any are as at be because been being both but by can could did do does doing done each "
    "for from had has have having he her here hers him his how i if in into is it its itself just me more most my "
    "myself no nor not of on only or other our ours out over own she should so some such than that the their theirs "
    "them then there these they this those through to too under until up very was we were what when where which while "
    "who whom whose why will with would you your yours aren't can't couldn't didn't doesn't don't hadn't hasn't "
    "haven't he'd he'll i'd i'll i'm i've isn't it'd it'll shouldn't they'd they'll they're they've wasn't we'd we'll "
    "we're we've weren't won't wouldn't you'd you'll you're you've"
)
_FUNCTION_WORDS_ZH: Final = (
    "的 了 和 与 或 及 而 在 是 为 有 被 把 将 对 从 到 于 以 由 之 其 该 这 那 这个 那个 这些 那些 哪 哪些 哪个 什么 "
    "怎么 怎样 如何 为什么 为何 吗 呢 吧 啊 呀 我 你 您 他 她 它 我们 你们 他们 她们 它们 也 都 就 还 又 很 "
    "更 最 不 没 没有 一个 一种 上 下 中 里 着 过 地 得 个 等 并 但 但是 如果 因为 所以 可以 会 能 要 请问 请 "
    "几 多少 时候 谁"
)
