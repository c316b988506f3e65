"""What a driver reads of the request, and the input that a framework is called with."""

import hashlib
import inspect
import json
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.run_config import (
    StreamingMode,  # pyright: ignore[reportPrivateImportUsage]  # ADK documents it from here
)
from google.genai import types
from pydantic import Field

from aion_adk.context.inbox import A2AInbox, inbox_of
from aion_adk.drivers.driver import Driver, DriverOptions
from aion_adk.protocol.from_genai import genai_parts, texts_in
from aion_adk.protocol.structs import json_object

InputMapper = Callable[[str, str], Any | Awaitable[Any]]
"""Called with the text and the id of the conversation; may be async."""


class InputOptions(DriverOptions, total=False):
    """Keyword options of drivers whose framework takes a structured input."""

    input_mapper: InputMapper | None
    parse_json_input: bool
    default_inputs: Mapping[str, Any]


class MappedInputDriver(Driver):
    """A driver whose input is, in this order: what `input_mapper` returns for the text, the text
    as a JSON object (with `parse_json_input`), or what the driver makes of plain text.

    `default_inputs` are set by the server and win over what a caller sends.
    """

    input_mapper: InputMapper | None = None
    parse_json_input: bool = False
    default_inputs: dict[str, Any] = Field(default_factory=dict[str, Any])

    # pyright takes the fields for the signature unless each class has one of its own.
    def __init__(self, *, name: str, **fields: Any) -> None:
        super().__init__(name=name, **fields)

    async def _input(self, ctx: InvocationContext) -> Any:
        text = text_of_request(ctx)
        if self.input_mapper is not None:
            given = self.input_mapper(text, conversation_id(ctx))
            if inspect.isawaitable(given):
                given = await given
        else:
            given = json_object(text) if self.parse_json_input else None
            given = self._plain_input(ctx, text) if given is None else given
        if self.default_inputs and isinstance(given, Mapping):
            return {**cast(Mapping[str, Any], given), **self.default_inputs}
        return given

    @abstractmethod
    def _plain_input(self, ctx: InvocationContext, text: str) -> Any:
        """The input for a text that is neither mapped nor read as JSON."""


def is_streaming(ctx: InvocationContext) -> bool:
    return bool(ctx.run_config and ctx.run_config.streaming_mode == StreamingMode.SSE)


def conversation_id(ctx: InvocationContext) -> str:
    """An id for what the driver remembers: one per agent, user and session."""
    agent = ctx.agent.name if ctx.agent else ""
    key = [ctx.app_name, agent, ctx.user_id, ctx.session.id]
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()


def inbox_or_none(ctx: InvocationContext) -> A2AInbox | None:
    try:
        return inbox_of(ctx)
    except LookupError:
        return None


def caller_texts(ctx: InvocationContext) -> list[str]:
    """The text parts of the caller's message; none if the agent was given something else, such as
    what a tool call made of it."""
    inbox = inbox_or_none(ctx)
    texts = [part.text for part in inbox.message.parts if part.text] if inbox else []
    return texts if set(texts) <= set(texts_in(user_parts(ctx))) else []


def text_of_request(ctx: InvocationContext) -> str:
    """The text parts, one per line; where there are none, data parts as JSON."""
    return "\n".join(caller_texts(ctx) or texts_in(user_parts(ctx)))


def user_parts(ctx: InvocationContext) -> list[types.Part]:
    """The user's message; for an agent that runs after a resumed one, what began the turn."""
    parts = genai_parts(ctx.user_content)
    if texts_in(parts):
        return parts
    for event in reversed(ctx.session.events):
        began = genai_parts(event.content)
        if event.author == "user" and texts_in(began):
            return began
    return parts
