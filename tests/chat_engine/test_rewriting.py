"""A rewrite is used only if it is a question of its own in the user's language that keeps what the user typed."""

from __future__ import annotations

import pytest
from tests.chat_engine.scenes import Shelf, talker

from responsa.chat_engine import CondensePlusContextChatEngine
from responsa.chat_engine.rewriting import fault_of, typed_parts
from responsa.schema.completions import Sampling
from responsa.testing import ScriptedLLM


@pytest.mark.parametrize(
    ("message", "rewritten"),
    [
        ("When does it restart?", "When does service B restart?"),
        ("它什么时候重启？", "服务 B 什么时候重启？"),
        ("And on port 8001?", "Does service B listen on port 8001?"),
        ("那 DolphinScheduler 呢？", "DolphinScheduler 怎么配置告警？"),
        ("And how long does the X200 run?", "How long does the X200's pump run?"),
        ("Which API does it have?", "Which APIs does service B have?"),
        ("Is it version 3.14?", "Is the version of service B 3.14?"),
    ],
)
def test_a_good_rewrite_has_no_fault(message: str, rewritten: str) -> None:
    assert fault_of(rewritten, message) is None


@pytest.mark.parametrize(
    ("message", "rewritten", "fault"),
    [
        ("When does it restart?", "", "empty"),
        ("When does it restart?", "It restarts at night.", "answer"),
        ("When does it restart?", "I don't know.", "answer"),
        ("它什么时候重启？", "我不知道。", "answer"),
        ("When does it restart?", "When does " + "it " * 200 + "restart?", "characters"),
        ("When does it restart?", "When?\n\nOr where?", "paragraphs"),
        ("When does it restart?", "它什么时候重启？", "language"),
        ("它什么时候重启？", "When does it restart?", "language"),
        ("And on port 8001?", "Does service B listen on port 8002?", "8001"),
        ("And on port 80?", "Does service B listen on port 8001?", "80"),
        ("Is 3.14 right?", "Is 3.142 right?", "3.14"),
        ("那 Go 呢？", "Google 怎么样？", "Go"),
        ('What is "fearless concurrency" then?', "What does the team mean then?", "fearless concurrency"),
        ("那 DolphinScheduler 呢？", "它怎么配置告警？", "DolphinScheduler"),
        ("Does it set max_tokens?", "Does the client set the limit?", "max_tokens"),
    ],
)
def test_a_bad_rewrite_is_told_by_its_fault(message: str, rewritten: str, fault: str) -> None:
    assert fault in (fault_of(rewritten, message) or "")


@pytest.mark.parametrize(
    ("message", "rewritten", "fault"),
    [
        ("And for how long?", "how many books can I borrow", "earlier"),
        ("更新呢？", "怎样卸载 Rust", "earlier"),
        ("How many books can I borrow?", "How many books can I borrow?", ""),
        ("And for how long?", "For how long can I borrow books?", ""),
    ],
)
def test_a_question_that_was_asked_before_is_no_rewrite_of_another(message: str, rewritten: str, fault: str) -> None:
    asked = ["How many books can I borrow?", "怎样卸载 Rust？"]
    assert fault in (fault_of(rewritten, message, asked) or "")
    assert bool(fault) is (fault_of(rewritten, message, asked) is not None)


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("Which port has Alice on host db-01?", ["01", "Alice", "db-01"]),
        ("Where is it?", []),
        ("I think Rust 1.75 is needed?", ["1.75", "Rust"]),
        ("端口 8080 的 Nginx 怎么配？", ["8080", "Nginx"]),
    ],
)
def test_the_parts_a_user_typed(message: str, parts: list[str]) -> None:
    assert typed_parts(message) == parts


def test_a_rejected_rewrite_falls_back_to_the_users_words_with_a_warning() -> None:
    shelf = Shelf()
    engine = CondensePlusContextChatEngine(shelf, llm=ScriptedLLM(talker(rewritten="It restarts at night.")))
    engine.chat("Which port has service B?")
    response = engine.chat("When does it restart?")
    assert shelf.asked[-1] == response.searched_with == "When does it restart?"
    assert [notice.code for notice in response.warnings] == ["rewrite_rejected"]


def test_the_rewrite_is_made_at_temperature_zero_and_in_the_questions_language() -> None:
    llm = ScriptedLLM(talker(rewritten="服务 B 什么时候重启？"))
    engine = CondensePlusContextChatEngine(Shelf(), llm=llm)
    engine.chat("服务 B 用哪个端口？")
    engine.chat("它什么时候重启？")
    samplings: list[Sampling] = llm.samplings
    assert samplings[1].temperature == 0.0
    assert "独立的问题：" in llm.prompts[1][-1].content


def test_the_oldest_history_gives_way_in_a_rewrite() -> None:
    llm = ScriptedLLM(talker(), context_window=500, num_output=60)
    engine = CondensePlusContextChatEngine(Shelf(), llm=llm)
    for number in range(8):
        engine.chat(f"Which port has service {number}? " + "Tell me in full. " * 5)
    rewrites = [prompt for prompt in llm.prompts if "Standalone question:" in prompt[-1].content]
    assert rewrites
    assert all(llm.count_prompts([prompt])[0] + 125 <= 500 for prompt in rewrites)
    assert "service 0" not in rewrites[-1][-1].content
