"""What is wrong with a request's fields, in the person's language: never the value, which may be long or secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from responsa.prompts.language import Language
from responsa.schema.excerpts import excerpt

MOST_FAULTS: Final = 20
_LONGEST: Final = 300  # characters

# By pydantic's names of them; the fields of its context stand in braces.
_TEXTS: Final[dict[str, dict[Language, str]]] = {
    "missing": {"en": "it is missing", "zh": "缺少这一项"},
    "extra_forbidden": {"en": "there is no such field", "zh": "没有这个字段"},
    "json_invalid": {"en": "it is no JSON: {error}", "zh": "不是 JSON：{error}"},
    "string_type": {"en": "it must be a text", "zh": "必须是文本"},
    "string_too_short": {"en": "it must have at least {min_length} characters", "zh": "至少要有 {min_length} 个字符"},
    "string_too_long": {"en": "it may have at most {max_length} characters", "zh": "最多 {max_length} 个字符"},
    "int_type": {"en": "it must be a whole number", "zh": "必须是整数"},
    "int_parsing": {"en": "it must be a whole number", "zh": "必须是整数"},
    "int_from_float": {"en": "it must be a whole number", "zh": "必须是整数"},
    "float_type": {"en": "it must be a number", "zh": "必须是数字"},
    "float_parsing": {"en": "it must be a number", "zh": "必须是数字"},
    "finite_number": {"en": "it must be a finite number", "zh": "必须是有限的数字"},
    "bool_type": {"en": "it must be true or false", "zh": "必须是 true 或 false"},
    "bool_parsing": {"en": "it must be true or false", "zh": "必须是 true 或 false"},
    "list_type": {"en": "it must be a list", "zh": "必须是列表"},
    "tuple_type": {"en": "it must be a list", "zh": "必须是列表"},
    "dict_type": {"en": "it must be an object", "zh": "必须是对象"},
    "model_type": {"en": "it must be an object", "zh": "必须是对象"},
    "model_attributes_type": {"en": "it must be an object", "zh": "必须是对象"},
    "too_short": {"en": "it must have at least {min_length} entries", "zh": "至少要有 {min_length} 项"},
    "too_long": {"en": "it may have at most {max_length} entries", "zh": "最多 {max_length} 项"},
    "greater_than": {"en": "it must be above {gt}", "zh": "必须大于 {gt}"},
    "greater_than_equal": {"en": "it must be {ge} or more", "zh": "必须大于或等于 {ge}"},
    "less_than": {"en": "it must be below {lt}", "zh": "必须小于 {lt}"},
    "less_than_equal": {"en": "it may be {le} at most", "zh": "必须小于或等于 {le}"},
    "literal_error": {"en": "it must be {expected}", "zh": "必须是 {expected}"},
    "value_error": {"en": "{error}", "zh": "{error}"},
}
_THE_BODY: Final[dict[Language, str]] = {"en": "the body", "zh": "请求正文"}


def field_faults(errors: Sequence[Mapping[str, Any]], language: Language) -> tuple[str, ...]:
    """Return each fault that pydantic found, with its place.

    Args:
        errors: What it found.
        language: Of the sentences; what no sentence is known for stays in pydantic's.
    """
    return tuple(f"{_place(fault, language)}: {_said(fault, language)}" for fault in errors[:MOST_FAULTS])


def _place(fault: Mapping[str, Any], language: Language) -> str:
    place = [str(part) for part in fault["loc"] if part != "body"]
    # Where JSON breaks off is a count of characters, and no field.
    return _THE_BODY[language] if not place or fault["type"] == "json_invalid" else ".".join(place)


def _said(fault: Mapping[str, Any], language: Language) -> str:
    texts = _TEXTS.get(fault["type"])
    said = str(fault["msg"]) if texts is None else texts[language].format(**(fault.get("ctx") or {}))
    return excerpt(said, _LONGEST)
