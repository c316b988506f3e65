"""A turn as a response of the Responses API: its events as it goes on, or the whole of it."""

from collections.abc import Sequence
from typing import Any

from a2a.types import Message, Task
from typing_extensions import override

from aion_adk.front_ends.encoder import Encoder, as_prose, json_frame, responses_usage
from aion_adk.front_ends.narration import Narration
from aion_adk.front_ends.openai_responses.items import (
    FunctionCallItem,
    MessageItem,
    OutputItem,
    ReasoningItem,
    ResponsesEvent,
    ServerCallItem,
)
from aion_adk.front_ends.turn_events import (
    ArtifactShown,
    RunCanceled,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStarted,
    TextContent,
    TextEnded,
    TextStarted,
    ToolCallArguments,
    ToolCallEnded,
    ToolCallResult,
    ToolCallStarted,
    TurnEvent,
)


class ResponsesEncoder(Encoder):
    """Encodes one turn; its last event carries the whole response.

    `echo` is what the client sent that a response repeats (tools, instructions, metadata).
    """

    def __init__(
        self,
        *,
        response_id: str,
        model: str,
        created: float,
        echo: dict[str, Any] | None = None,
        client_tools: Sequence[str] = (),
    ) -> None:
        prefix = response_id.removeprefix("resp_")
        super().__init__(Narration(prefix=prefix, client_tools=client_tools))
        self._head: dict[str, Any] = {
            "id": response_id,
            "object": "response",
            "created_at": created,
            "model": model,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "metadata": {},
            "instructions": None,
            "previous_response_id": None,
            **(echo or {}),
        }
        self._model = model
        self._items: list[OutputItem] = []
        self._texts: dict[str, MessageItem | ReasoningItem] = {}
        self._calls: dict[str, FunctionCallItem | ServerCallItem] = {}
        self._sequence = 0
        self.response: dict[str, Any] = {}

    @override
    def _encode(self, events: Sequence[TurnEvent]) -> list[ResponsesEvent]:
        encoded = [made for event in events for made in self._events(event)]
        for made in encoded:
            made["sequence_number"] = self._sequence
            self._sequence += 1
        return encoded

    @override
    def _frame(self, item: ResponsesEvent) -> str:
        return json_frame(item, event=item["type"])

    def _events(self, event: TurnEvent) -> list[ResponsesEvent]:
        match event:
            case TextContent(id, text):
                return [self._texts[id].delta(text)]
            case TextStarted(id, thought):
                index = len(self._items)
                text_item = ReasoningItem(index, id) if thought else MessageItem(index, id)
                self._items.append(text_item)
                self._texts[id] = text_item
                return text_item.begin()
            case TextEnded(id, text, _, signature):
                text_item = self._texts.pop(id)
                if isinstance(text_item, ReasoningItem):
                    return text_item.finish(text, signature=signature)
                return text_item.finish(text)
            case ToolCallStarted() | ToolCallArguments() | ToolCallEnded() | ToolCallResult():
                return self._call_events(event)
            case ArtifactShown(id, name, parts):
                text = as_prose(name, parts)
                item = MessageItem(len(self._items), f"{id}_{len(self._items)}")
                self._items.append(item)
                return [*item.begin(), item.delta(text), *item.finish(text)]
            case RunStarted():
                kinds = ("response.created", "response.in_progress")
                return [self._whole(kind, "in_progress") for kind in kinds]
            case RunFinished() | RunPaused() | RunFailed() | RunCanceled():
                return self._end_events(event)
            case _:
                return []

    def _call_events(
        self, event: ToolCallStarted | ToolCallArguments | ToolCallEnded | ToolCallResult
    ) -> list[ResponsesEvent]:
        match event:
            case ToolCallStarted(id, name, pending=pending):
                index = len(self._items)
                started = (
                    FunctionCallItem(index, id, name)
                    if pending
                    else ServerCallItem(index, id, name, server=self._model)
                )
                self._items.append(started)
                self._calls[id] = started
                return started.begin()
            case ToolCallArguments(id, delta):
                return [self._calls[id].delta(delta)]
            case ToolCallEnded(call):
                return self._calls[call.id].finish(call.arguments_json)
            case ToolCallResult(result=result):
                item = self._calls.get(result.id)
                if not isinstance(item, ServerCallItem) or item.done:
                    return []
                return item.finish_with(result)

    def _end_events(
        self, event: RunFinished | RunPaused | RunFailed | RunCanceled
    ) -> list[ResponsesEvent]:
        """Every item that was begun is ended before the response is."""
        ended = [
            made
            for item in self._calls.values()
            if isinstance(item, ServerCallItem) and not item.done
            for made in item.fail("The call has no result.")
        ]
        match event:
            case RunFinished(usage, truncated=True):
                reason = {"reason": "max_output_tokens"}
                whole = self._whole(
                    "response.incomplete", "incomplete", usage=usage, incomplete=reason
                )
            case RunFinished(usage) | RunPaused(usage=usage):
                whole = self._whole("response.completed", "completed", usage=usage)
            case RunFailed(text, _, usage):
                error = {"code": "server_error", "message": text}
                whole = self._whole("response.failed", "failed", usage=usage, error=error)
            case RunCanceled():
                whole = self._whole("response.incomplete", "cancelled")
        return [*ended, whole]

    def _whole(
        self,
        kind: str,
        status: str,
        *,
        usage: dict[str, int] | None = None,
        error: dict[str, Any] | None = None,
        incomplete: dict[str, Any] | None = None,
    ) -> ResponsesEvent:
        response: dict[str, Any] = {
            **self._head,
            "status": status,
            "error": error,
            "incomplete_details": incomplete,
            "output": [dict(item.item) for item in self._items if status != "in_progress"],
        }
        if usage:
            response["usage"] = responses_usage(usage)
        self.response = response
        return {"type": kind, "response": response}


def response_of(
    answer: Task | Message,
    *,
    response_id: str,
    model: str,
    created: float,
    echo: dict[str, Any] | None = None,
    client_tools: Sequence[str] = (),
) -> dict[str, Any]:
    """The whole response to the latest turn, or as much of it as there is."""
    encoder = ResponsesEncoder(
        response_id=response_id,
        model=model,
        created=created,
        echo=echo,
        client_tools=client_tools,
    )
    encoder.encode(answer)
    return encoder.response
