"""The values that options take, and the check of what is given; cheap to import."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le

Port = Annotated[int, Ge(0), Le(65535)]
Seconds = Annotated[float, Ge(0)]
PositiveSeconds = Annotated[float, Gt(0)]
ByteCount = Annotated[int, Gt(0)]

_IN_WORDS: dict[object, str] = {
    NoneType: "None",
    bool: "True or False",
    int: "an integer",
    float: "a number",
    str: "a string",
    Callable: "a function",
    Mapping: "a mapping",
    Ge: "of at least",
    Gt: "above",
}


def check_values(options: object) -> None:
    """Compares the fields of a dataclass with their types.

    Raises a ValueError for a value that is out of bounds, a TypeError for one of another type.
    """
    hints = get_type_hints(type(options), include_extras=True)
    bare = get_type_hints(type(options))
    for field in fields(cast(Any, options)):
        name, value = field.name, getattr(options, field.name)
        if not fits(value, hints[name]):
            bounded = get_origin(hints[name]) is Literal or fits(value, bare[name])
            message = f"{name} must be {in_words(hints[name])}, got {value!r}"
            raise (ValueError if bounded else TypeError)(message)


def fits(value: Any, hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, argument) for argument in arguments)
    if origin is Literal:
        return value in arguments
    if origin is Annotated:
        limits = map(_comparison, arguments[1:])
        if not fits(value, arguments[0]) or not math.isfinite(value):
            return False
        return all(compare(value, bound) for compare, bound in limits)
    if origin is Callable:
        return callable(value)
    if origin is Sequence:
        if isinstance(value, str) or not isinstance(value, Sequence):
            return False
        return all(fits(item, arguments[0]) for item in cast(Sequence[Any], value))
    if origin is Mapping and isinstance(value, Mapping):
        return all(fits(item, arguments[1]) for item in cast(Mapping[Any, Any], value).values())
    if hint is Any:
        return True
    if hint in (int, float):
        return isinstance(value, (int, hint)) and not isinstance(value, bool)
    return isinstance(value, origin or hint)


def in_words(hint: Any) -> str:
    """A type as an error names it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(map(in_words, arguments))
    if origin is Literal:
        return " or ".join(map(repr, arguments))
    if origin is Annotated:
        number, first, *others = arguments
        limits = f"{_IN_WORDS[type(first)]} {_comparison(first)[1]}"
        if others:
            limits = f"from {_comparison(first)[1]} to {_comparison(others[0])[1]}"
        return f"{in_words(number)} {limits}"
    if origin is Sequence:
        return f"a list of {arguments[0].__name__}"
    if origin is Mapping and arguments[1] is not Any:
        return f"a mapping to {arguments[1].__name__}"
    return _IN_WORDS.get(origin or hint) or hint.__name__


def _comparison(limit: Ge | Gt | Le) -> tuple[Callable[[Any, Any], bool], Any]:
    name = type(limit).__name__.lower()
    return getattr(operator, name), getattr(limit, name)
