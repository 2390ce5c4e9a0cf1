from typing import Any

import pytest

from responsa.schema.errors import InvalidOption
from responsa.schema.filters import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        ("===", "x"),
        ("==", None),
        ("==", ["x"]),
        ("==", {"a": 1}),
        ("==", float("nan")),
        ("==", float("inf")),
        ("==", 10**400),
        ("==", b"x"),
        (">", True),
        ("in", "text"),
        ("in", 5),
        ("nin", [None]),
        ("contains", ["x"]),
    ],
)
def test_conditions_that_mean_nothing_are_refused(operator: Any, value: Any) -> None:
    with pytest.raises(InvalidOption):
        MetadataFilter("key", value, operator)


def test_operators_and_conditions_may_be_given_by_their_value() -> None:
    condition: Any = ">="
    assert MetadataFilter("key", 1, condition).operator is FilterOperator.GTE
    joined: Any = "or"
    assert MetadataFilters([], joined).condition is FilterCondition.OR
    unknown: Any = "xor"
    with pytest.raises(InvalidOption):
        MetadataFilters([], unknown)


def test_from_dict_asks_for_every_value() -> None:
    filters = MetadataFilters.from_dict({"lang": "zh", "page": 3})
    assert filters.matches({"lang": "zh", "page": 3.0, "more": 1})
    assert not filters.matches({"lang": "zh", "page": "3"})
    assert not filters.matches({"lang": "zh"})


@pytest.mark.parametrize("stored", [None, {"a": 1}, [["x"]], float("nan"), 10**400, b"x"])
def test_stored_values_of_other_kinds_equal_nothing(stored: Any) -> None:
    for operator in (FilterOperator.EQ, FilterOperator.GT, FilterOperator.LTE, FilterOperator.CONTAINS):
        assert not MetadataFilters([MetadataFilter("key", "x", operator)]).matches({"key": stored})
        assert not MetadataFilters([MetadataFilter("key", 1, operator)]).matches({"key": stored})
    assert MetadataFilters([MetadataFilter("key", "x", FilterOperator.NE)]).matches({"key": stored})
