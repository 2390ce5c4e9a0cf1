"""Sharing out a window: the context gives way first, then the answer, and then there is an error with the numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.packing.budget import MARGIN, MIN_OUTPUT, MIN_ROOM, Budget, share_out, wanted_output
from responsa.schema.completions import LLMMetadata, Sampling
from responsa.schema.errors import WindowTooSmall


@pytest.mark.parametrize(
    ("window", "fixed", "wanted", "output", "room"),
    [
        (4096, 200, 512, 512, 4096 - 200 - 512 - MARGIN),
        (800, 200, 512, 512, 80),
        (784, 200, 512, 512, MIN_ROOM),
        (783, 200, 512, 511, MIN_ROOM),
        (400, 200, 512, 128, MIN_ROOM),
        (320, 200, 512, MIN_OUTPUT, MIN_ROOM),
        (300, 200, 20, 20, 72),
    ],
)
def test_the_context_gives_way_first_and_then_the_answer(
    window: int, fixed: int, wanted: int, output: int, room: int
) -> None:
    assert share_out(window, fixed, wanted) == Budget(window, fixed, output, wanted, room)


@pytest.mark.parametrize(("window", "fixed", "wanted", "least"), [(319, 200, 512, MIN_OUTPUT), (291, 200, 20, 20)])
def test_one_token_too_few_is_refused_with_the_table(window: int, fixed: int, wanted: int, least: int) -> None:
    with pytest.raises(WindowTooSmall) as error:
        share_out(window, fixed, wanted)
    assert error.value.table == (
        ("fixed messages", fixed),
        ("answer, at least", least),
        ("context, at least", MIN_ROOM),
        ("margin", MARGIN),
    )


@given(st.integers(1, 5000), st.integers(0, 5000), st.integers(1, 3000), st.integers(0, 200))
def test_the_shares_add_up_to_the_window_or_the_error_says_what_is_missing(
    window: int, fixed: int, wanted: int, min_room: int
) -> None:
    least = min(wanted, MIN_OUTPUT)
    if window < fixed + least + min_room + MARGIN:
        with pytest.raises(WindowTooSmall) as error:
            share_out(window, fixed, wanted, min_room=min_room)
        assert error.value.window == window
        assert sum(tokens for _, tokens in error.value.table) > window
        assert str(fixed) in str(error.value)
        return
    budget = share_out(window, fixed, wanted, min_room=min_room)
    assert budget.fixed + budget.output + budget.room + MARGIN == window
    assert least <= budget.output <= wanted
    assert budget.room >= min_room
    assert budget.output == wanted or budget.room == min_room


@pytest.mark.parametrize(
    ("window", "num_output", "max_tokens", "wanted"),
    [
        (4096, 512, None, 512),
        (4096, 512, 2000, 2000),
        (900, 512, None, 300),
        (900, 512, 700, 700),
        (100, 512, None, MIN_OUTPUT),
        (4096, 512, 1, 1),
    ],
)
def test_an_answer_is_to_have_what_the_call_says_else_the_llms_own_up_to_a_third(
    window: int, num_output: int, max_tokens: int | None, wanted: int
) -> None:
    assert wanted_output(LLMMetadata(window, num_output), Sampling(max_tokens)) == wanted
