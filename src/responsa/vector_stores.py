"""Filters on passages' metadata, at the place LlamaIndex has them."""

from __future__ import annotations

from .schema.filters import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

__all__ = ["FilterCondition", "FilterOperator", "MetadataFilter", "MetadataFilters"]
