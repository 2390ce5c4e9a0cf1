"""Metadata filters as SQL over the columns `labels`, `numbers` and `texts`.

Values never stand in SQL but as literals, in which a quote is doubled: there is no way out of one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from responsa.schema.filters import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters, number_of

from .rows import item_label, passable, value_label

_COMPARISONS: Final = {
    FilterOperator.GT: ">",
    FilterOperator.LT: "<",
    FilterOperator.GTE: ">=",
    FilterOperator.LTE: "<=",
}


def where(filters: MetadataFilters | None) -> str | None:
    """Return the condition in SQL; None where every passage passes."""
    if filters is None or not filters.filters:
        return None
    parts = [
        _condition(part) if isinstance(part, MetadataFilter) else where(part) or "true" for part in filters.filters
    ]
    return "(" + (" AND " if filters.condition is FilterCondition.AND else " OR ").join(parts) + ")"


def one_of(column: str, values: Iterable[str]) -> str:
    """Return the condition that a column holds one of the values."""
    return f"{column} IN ({', '.join(map(literal, values))})"


def literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _condition(condition: MetadataFilter) -> str:
    key, value = condition.key, condition.value
    match condition.operator:
        case FilterOperator.EQ:
            return _has(value_label(key, value))
        case FilterOperator.NE:
            return f"NOT {_has(value_label(key, value))}"
        case FilterOperator.IN:
            return _has_any([value_label(key, one) for one in value])  # type: ignore[union-attr]
        case FilterOperator.NIN:
            return f"NOT {_has_any([value_label(key, one) for one in value])}"  # type: ignore[union-attr]
        case FilterOperator.CONTAINS:
            return _contains(key, value)
        case operator:
            return _ordered(key, _COMPARISONS[operator], value)


def _has(label: str | None) -> str:
    assert label is not None
    return f"array_has(labels, {literal(label)})"


def _has_any(found: list[str | None]) -> str:
    if not found:
        return "false"
    return f"array_has_any(labels, make_array({', '.join(literal(label) for label in found if label is not None)}))"


def _contains(key: str, value: object) -> str:
    item = _has(item_label(key, value))
    if not isinstance(value, str):
        return item
    return f"({item} OR contains({_text(key)}, {literal(passable(value))}))"


def _ordered(key: str, comparison: str, value: object) -> str:
    if isinstance(value, str):
        return f"{_text(key)} {comparison} {literal(passable(value))}"
    return f"json_get_float(numbers, {literal(passable(key))}) {comparison} {number_of(value)!r}"


def _text(key: str) -> str:
    return f"json_get_string(texts, {literal(passable(key))})"
