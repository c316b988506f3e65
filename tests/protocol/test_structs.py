import json
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from aion_adk.protocol.structs import drop_protected, to_dict, to_plain, to_struct, to_value

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON)
def test_json_survives_the_way_through_protobuf(value: Any) -> None:
    """A2"""
    assert to_plain(to_value(value)) == value


@pytest.mark.parametrize(
    ("number", "written"),
    [(1, "1"), (-0.0, "0"), (2**53 + 2, "9007199254740994"), (1.5, "1.5"), (1e21, "1e+21")],
)
def test_whole_numbers_are_written_whole(number: float, written: str) -> None:
    """A2"""
    assert json.dumps(to_plain(to_value(number))) == written


def test_keys_are_sorted_at_every_depth() -> None:
    """A2"""
    struct = to_struct({"b": [{"d": 1, "c": 2}], "a": {"z": 1, "y": 2}})
    assert json.dumps(to_dict(struct)) == '{"a": {"y": 2, "z": 1}, "b": [{"c": 2, "d": 1}]}'


def test_protected_keys_go_at_every_depth() -> None:
    """D3"""
    struct = to_struct(
        {"aion:a": 1, "k": {"https://docs.aion.to/b": 1, "l": [{"aion:c": 1, "m": 2}]}}
    )
    assert sorted(drop_protected(struct)) == ["aion:a", "aion:c", "https://docs.aion.to/b"]
    assert to_dict(struct) == {"k": {"l": [{"m": 2}]}}


class Reading(BaseModel):
    level: int


@dataclass
class Sample:
    taken: date


def test_models_dataclasses_and_dates_become_values() -> None:
    value = to_value({"reading": Reading(level=3), "sample": Sample(date(2026, 1, 2))})
    assert to_plain(value) == {"reading": {"level": 3}, "sample": {"taken": "2026-01-02"}}


def test_what_json_cannot_hold_is_named() -> None:
    with pytest.raises(TypeError, match="got object"):
        to_value({"thing": object()})
