"""Files and data in both directions: lists what came in, sends one of every kind back."""

from collections.abc import AsyncGenerator

from a2a.types import Part
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.apps import App
from google.adk.events import Event, EventActions
from google.genai import types

from aion_adk import A2ABridgePlugin, emit_data, emit_file, inbox_of

LOGO = b"""<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">
<circle cx="32" cy="32" r="28" fill="#3949ab"/></svg>
"""


def describe(part: Part) -> str:
    match part.WhichOneof("content"):
        case "text":
            return f"text, {len(part.text)} characters"
        case "raw":
            return f"file {part.filename or '(unnamed)'}, {len(part.raw)} bytes"
        case "url":
            return f"link to {part.url}"
        case "data":
            return "data"
        case _:
            return "an empty part"


class Files(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        received = [describe(part) for part in inbox_of(ctx).message.parts]
        emit_data(ctx, {"received": received}, name="received.json")
        emit_file(ctx, data=LOGO, mime_type="image/svg+xml", name="logo.svg")
        emit_file(ctx, url="https://a2a-protocol.org", mime_type="text/html", name="specification")
        yield await self._save_listing(ctx, received)
        parts = [
            types.Part(text=f"I got {len(received)} part(s): {'; '.join(received)}."),
            types.Part.from_bytes(data=b"kind,example\ninline,this\n", mime_type="text/csv"),
        ]
        content = types.Content(role="model", parts=parts)
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)

    async def _save_listing(self, ctx: InvocationContext, received: list[str]) -> Event:
        """A file saved with ADK's artifact service becomes an A2A artifact too."""
        changes: dict[str, int] = {}
        if ctx.artifact_service:
            listing = "\n".join(received).encode()
            changes["listing.txt"] = await ctx.artifact_service.save_artifact(
                app_name=ctx.app_name,
                user_id=ctx.user_id,
                session_id=ctx.session.id,
                filename="listing.txt",
                artifact=types.Part.from_bytes(data=listing, mime_type="text/plain"),
            )
        return Event(
            author=self.name,
            invocation_id=ctx.invocation_id,
            actions=EventActions(artifact_delta=changes),
        )


root_agent = Files(name="files", description="Takes and sends files, links and data.")
app = App(name="files", root_agent=root_agent, plugins=[A2ABridgePlugin()])
