"""Files and data as text, for front ends that can show nothing else."""

import json
from collections.abc import Iterable

from a2a.types import Part

from aion_adk.inbound import mime_type_of
from aion_adk.values import to_plain

BREAK = "\n\n"
"""Separates messages that a front end has to show as one."""


def as_prose(name: str, parts: Iterable[Part]) -> str:
    return BREAK.join(_part_as_prose(name, part) for part in parts)


def _part_as_prose(name: str, part: Part) -> str:
    label = part.filename or name
    match part.WhichOneof("content"):
        case "url":
            return f"[{label or part.url}]({part.url})"
        case "data":
            shown = json.dumps(to_plain(part.data), ensure_ascii=False, indent=2)
            return f"```json\n{shown}\n```"
        case "raw":
            what = f"{label}, " if label else ""
            return f"[file: {what}{mime_type_of(part)}, {len(part.raw)} bytes]"
        case _:
            return part.text
