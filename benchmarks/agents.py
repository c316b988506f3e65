"""The trivial agents every peer serves; the caller's text names what to do.

`echo` answers at once, `chunks 2000 5` streams 2,000 chunks 5 ms apart, `hold` streams two chunks
and then waits. `flood 80` streams 80 sections of 400 KB; only `Trivial` does it.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.genai import types

CHUNK = "token "
_FLOOD_CHUNK = "x" * 4096
_CHUNKS_A_SECTION = 100


async def chunks_of(command: str) -> AsyncIterator[str]:
    """The chunks that `command` asks for; none for `echo`."""
    verb, *numbers = command.split()
    if verb == "hold":
        # a2a-adapter keeps a chunk back until the next one comes
        yield CHUNK
        yield CHUNK
        await asyncio.Event().wait()
    if verb != "chunks":
        return
    count, milliseconds = map(int, numbers)
    for _ in range(count):
        yield CHUNK
        if milliseconds:
            await asyncio.sleep(milliseconds / 1000)


class Trivial(BaseAgent):
    """Does no work of its own, so that what is measured is the bridge around it."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        parts = ctx.user_content.parts if ctx.user_content else None
        command = (parts[0].text if parts else "") or "echo"
        if command.startswith("flood"):
            # Sections end, so that the run itself keeps none of the text.
            for _ in range(int(command.split()[1])):
                for _ in range(_CHUNKS_A_SECTION):
                    yield self._text_event(ctx, _FLOOD_CHUNK, partial=True)
                yield self._text_event(ctx, "section", partial=False)
            return
        whole: list[str] = []
        async for chunk in chunks_of(command):
            whole.append(chunk)
            yield self._text_event(ctx, chunk, partial=True)
        yield self._text_event(ctx, "".join(whole) or command, partial=False)

    def _text_event(self, ctx: InvocationContext, text: str, *, partial: bool) -> Event:
        content = types.Content(role="model", parts=[types.Part(text=text)])
        return Event(
            author=self.name, invocation_id=ctx.invocation_id, content=content, partial=partial
        )
