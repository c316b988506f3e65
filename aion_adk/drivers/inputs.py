"""The input pipeline: from the text of a request to what a framework is called with."""

import inspect
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from google.adk.agents.invocation_context import InvocationContext
from pydantic import Field

from aion_adk.drivers.driver import Driver, DriverOptions
from aion_adk.drivers.request import conversation_id, text_of_request
from aion_adk.values import json_object

InputMapper = Callable[[str, str], Any | Awaitable[Any]]
"""Called with the text and the id of the conversation; may be async."""


class InputOptions(DriverOptions, total=False):
    """Keyword options of drivers whose framework takes a structured input."""

    input_mapper: InputMapper | None
    parse_json_input: bool
    default_inputs: Mapping[str, Any]


class MappedInputDriver(Driver):
    """A driver whose input is, in this order: what `input_mapper` makes of the text, the text
    read as a JSON object (with `parse_json_input`), or what the driver makes of plain text.

    `default_inputs` are the server's: they win over what a caller sends.
    """

    input_mapper: InputMapper | None = None
    parse_json_input: bool = False
    default_inputs: dict[str, Any] = Field(default_factory=dict[str, Any])

    # pyright takes the fields for the signature unless each class has one of its own.
    def __init__(self, *, name: str, **fields: Any) -> None:
        super().__init__(name=name, **fields)

    async def _input(self, ctx: InvocationContext) -> Any:
        mapped = await self._mapped(ctx)
        if self.default_inputs and isinstance(mapped, Mapping):
            return {**cast(Mapping[str, Any], mapped), **self.default_inputs}
        return mapped

    async def _mapped(self, ctx: InvocationContext) -> Any:
        text = text_of_request(ctx)
        if self.input_mapper is not None:
            mapped = self.input_mapper(text, conversation_id(ctx))
            return await mapped if inspect.isawaitable(mapped) else mapped
        parsed = json_object(text) if self.parse_json_input else None
        return self._plain_input(ctx, text) if parsed is None else parsed

    @abstractmethod
    def _plain_input(self, ctx: InvocationContext, text: str) -> Any:
        """The input for text that is no more than text."""
