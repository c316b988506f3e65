"""JSON Patch (RFC 6902) on plain values, as AG-UI's state events use it."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any, cast

from aion_adk.errors import BridgeError


class PatchError(BridgeError):
    """The patch does not fit the document."""


def apply_patch(document: Any, patch: Iterable[Mapping[str, Any]]) -> Any:
    """The document that the patch makes of `document`, which stays as it is."""
    root = {"": copy.deepcopy(document)}
    for operation in patch:
        try:
            _apply(root, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise PatchError(f"the operation {dict(operation)} does not fit") from error
    return root[""]


def _apply(root: dict[str, Any], operation: Mapping[str, Any]) -> None:
    path = operation["path"]
    match operation["op"]:
        case "add":
            _add(root, path, copy.deepcopy(operation["value"]))
        case "remove":
            _remove(root, path)
        case "replace":
            _replace(root, path, copy.deepcopy(operation["value"]))
        case "move":
            _add(root, path, _remove(root, operation["from"]))
        case "copy":
            _add(root, path, copy.deepcopy(_value(root, operation["from"])))
        case "test":
            if _value(root, path) != operation["value"]:
                raise ValueError("the value is another one")
        case other:
            raise ValueError(f"unknown operation {other}")


def _target(root: dict[str, Any], path: str) -> tuple[Any, str]:
    """What holds the value at `path`, and its key there."""
    if path and not path.startswith("/"):
        raise ValueError("a path begins with a slash")
    *parents, last = ["", *(token for token in path.split("/")[1:])]
    holder: Any = root
    for token in parents:
        holder = holder[_key(holder, token)]
    return holder, last


def _value(root: dict[str, Any], path: str) -> Any:
    holder, last = _target(root, path)
    return holder[_key(holder, last)]


def _add(root: dict[str, Any], path: str, value: Any) -> None:
    holder, last = _target(root, path)
    if isinstance(holder, list):
        items = cast("list[Any]", holder)
        index = len(items) if last == "-" else int(last)
        if not 0 <= index <= len(items):
            raise IndexError(last)
        items.insert(index, value)
    else:
        holder[_key(holder, last)] = value


def _replace(root: dict[str, Any], path: str, value: Any) -> None:
    holder, last = _target(root, path)
    key = _key(holder, last)
    holder[key]  # a value that is not there cannot be replaced
    holder[key] = value


def _remove(root: dict[str, Any], path: str) -> Any:
    holder, last = _target(root, path)
    return holder.pop(_key(holder, last))


def _key(holder: Any, token: str) -> Any:
    if isinstance(holder, list):
        return int(token) if token.isdigit() else _no_index(token)
    if not isinstance(holder, dict):
        raise TypeError("neither an object nor an array")
    return token.replace("~1", "/").replace("~0", "~")


def _no_index(token: str) -> int:
    raise ValueError(f"{token} is no index")
