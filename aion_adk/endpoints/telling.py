"""A turn told to its end, whatever happens to it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Protocol

from aion_adk.endpoints.errors import text_for_caller
from aion_adk.formats.narration import A2AEvent

Told = dict[str, Any]


class Encoder(Protocol):
    def encode(self, event: A2AEvent) -> list[Told]: ...

    def finish(self) -> list[Told]: ...

    def fail(self, text: str, *, code: str) -> list[Told]: ...


async def told(
    encoder: Encoder, events: AsyncGenerator[A2AEvent, None]
) -> AsyncGenerator[Told, None]:
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
