"""A server for a test to stop: run it, or give its `app` to uvicorn."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk import serve, to_a2a
from tests.agents import text_event

GRACE = float(os.environ.get("GRACE", "0.5"))


class Waiting(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            yield text_event(self, ctx, "hello", partial=True)
            await asyncio.Event().wait()
        finally:
            print("cleaned up", flush=True)


waiting = Waiting(name="waiting")
app = to_a2a(waiting, shutdown_grace=GRACE)

if __name__ == "__main__":
    serve(waiting, port=int(sys.argv[1]), shutdown_grace=GRACE)
