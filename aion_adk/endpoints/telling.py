"""A turn told to its end, whatever happens to it."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from a2a.server.events import Event

from aion_adk.endpoints.errors import text_for_caller
from aion_adk.formats.encoder import Encoded, Encoder
from aion_adk.sse import frame


async def told(
    encoder: Encoder, events: AsyncGenerator[Event, None]
) -> AsyncGenerator[Encoded, None]:
    """What the encoder makes of the events; a client that reads on always reads an end."""
    try:
        async with aclosing(events):
            async for event in events:
                for item in encoder.encode(event):
                    yield item
        ending = encoder.finish()
    except Exception as error:
        ending = encoder.fail(text_for_caller(error), code="stream_incomplete")
    for item in ending:
        yield item


def json_frame(data: Encoded, *, event: str = "") -> str:
    return frame(json.dumps(data, ensure_ascii=False, separators=(",", ":")), event=event)


async def rejoined(first: Any, rest: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
    """An iterator whose first item was taken to see whether there is one."""
    async with aclosing(rest):
        yield first
        async for item in rest:
            yield item
