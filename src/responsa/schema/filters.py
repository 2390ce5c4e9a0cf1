"""Conditions on passages' metadata."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from .errors import InvalidOption

FilterValue: TypeAlias = str | int | float | bool


class FilterOperator(StrEnum):
    """How a passage's metadata value is compared with the filter's."""

    EQ = "=="
    NE = "!="
    GT = ">"
    LT = "<"
    GTE = ">="
    LTE = "<="
    IN = "in"
    NIN = "nin"
    CONTAINS = "contains"


class FilterCondition(StrEnum):
    """Whether all or any of several filters must hold."""

    AND = "and"
    OR = "or"


_TAKES_LIST = (FilterOperator.IN, FilterOperator.NIN)
_ORDERS = (FilterOperator.GT, FilterOperator.LT, FilterOperator.GTE, FilterOperator.LTE)


@dataclass(frozen=True, slots=True)
class MetadataFilter:
    """One condition on one metadata key.

    A passage without the key fails every condition but NE and NIN. Numbers compare with numbers, as 64-bit floats, and
    texts with texts, by code point; anything else differs. CONTAINS asks whether a list holds the value, or a text
    holds it as a piece.

    Args:
        key: The metadata key.
        value: What to compare with: a text, number or truth value; for IN and NIN a sequence of them.
        operator: How to compare; its value, such as ">=", is accepted too.

    Raises:
        InvalidOption: The operator is unknown, or does not take such a value.
    """

    key: str
    value: FilterValue | Sequence[FilterValue]
    operator: FilterOperator = FilterOperator.EQ

    def __post_init__(self) -> None:
        try:
            operator = FilterOperator(self.operator)
        except ValueError:
            known = ", ".join(FilterOperator)
            raise InvalidOption("operator", self.operator, f"one of {known}") from None
        object.__setattr__(self, "operator", operator)
        if operator in _TAKES_LIST:
            if isinstance(self.value, str | bytes) or not isinstance(self.value, Sequence):
                raise InvalidOption("value", self.value, f"a list of values for {operator.value}")
            object.__setattr__(self, "value", tuple(self.value))
        single = self.value if operator in _TAKES_LIST else (self.value,)
        for value in single:  # type: ignore[union-attr]
            if _comparable(value) is None or (operator in _ORDERS and isinstance(value, bool)):
                raise InvalidOption("value", value, f"a text or a finite number for {operator.value}")


@dataclass(frozen=True, slots=True)
class MetadataFilters:
    """Several conditions, all or any of which must hold; conditions may be nested.

    Args:
        filters: Conditions, or groups of conditions. None at all lets every passage through.
        condition: AND or OR; "and" and "or" are accepted too.
    """

    filters: Sequence[MetadataFilter | MetadataFilters]
    condition: FilterCondition = FilterCondition.AND

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", tuple(self.filters))
        try:
            object.__setattr__(self, "condition", FilterCondition(self.condition))
        except ValueError:
            raise InvalidOption("condition", self.condition, "and, or") from None

    @classmethod
    def from_dict(cls, values: Mapping[str, FilterValue]) -> MetadataFilters:
        """Make a condition of equality with every value given."""
        return cls([MetadataFilter(key, value) for key, value in values.items()])

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether a passage with this metadata passes."""
        if not self.filters:
            return True
        results = (
            part.matches(metadata) if isinstance(part, MetadataFilters) else _holds(part, metadata)
            for part in self.filters
        )
        return all(results) if self.condition is FilterCondition.AND else any(results)


def _holds(condition: MetadataFilter, metadata: Mapping[str, Any]) -> bool:
    stored, value = metadata.get(condition.key), condition.value
    match condition.operator:
        case FilterOperator.EQ:
            return _equal(stored, value)
        case FilterOperator.NE:
            return not _equal(stored, value)
        case FilterOperator.IN:
            return any(_equal(stored, one) for one in value)  # type: ignore[union-attr]
        case FilterOperator.NIN:
            return not any(_equal(stored, one) for one in value)  # type: ignore[union-attr]
        case FilterOperator.CONTAINS:
            if isinstance(stored, list | tuple):
                return any(_equal(one, value) for one in stored)
            return isinstance(stored, str) and isinstance(value, str) and value in stored
        case _:
            return _ordered(condition.operator, stored, value)


def number_of(value: Any) -> float | None:
    """Return a number as it is compared, None for anything else, truth values and what is not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _comparable(value: Any) -> Any:
    return value if isinstance(value, bool | str) else number_of(value)


def _equal(stored: Any, value: Any) -> bool:
    one, other = _comparable(stored), _comparable(value)
    return one is not None and type(one) is type(other) and bool(one == other)


def _ordered(operator: FilterOperator, stored: Any, value: Any) -> bool:
    one, other = _comparable(stored), _comparable(value)
    if type(one) is not type(other) or not isinstance(one, str | float):
        return False
    match operator:
        case FilterOperator.GT:
            return bool(one > other)
        case FilterOperator.LT:
            return bool(one < other)
        case FilterOperator.GTE:
            return bool(one >= other)
        case _:
            return bool(one <= other)
