"""A turn as a response of the Responses API: streamed as events, or complete."""

from collections.abc import Mapping, Sequence
from typing import Any

from a2a.types import Message, Task
from typing_extensions import override

from aion_adk.formats.tools import ToolCall, ToolResult
from aion_adk.front_ends import turn_events as turn
from aion_adk.front_ends.encoder import Encoder, parts_as_text, token_counts
from aion_adk.protocol.json_codec import json_frame

ResponsesEvent = dict[str, Any]


class ResponsesEncoder(Encoder):
    """Encodes one turn; its last event carries the complete response.

    `echo` holds the fields of the request that a response repeats (tools, instructions, metadata).
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
        super().__init__(prefix=response_id.removeprefix("resp_"), client_tools=client_tools)
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
        self._output: list[OutputItem] = []
        self._texts: dict[str, MessageItem | ReasoningItem] = {}
        self._calls: dict[str, FunctionCallItem | ServerCallItem] = {}
        self._sequence = 0
        self.response: dict[str, Any] = {}

    def response_to(self, answer: Task | Message) -> dict[str, Any]:
        """The response for the latest turn, complete or in progress."""
        self.encode(answer)
        return self.response

    @override
    def _encode(self, events: Sequence[turn.TurnEvent]) -> list[ResponsesEvent]:
        encoded = super()._encode(events)
        for item in encoded:
            item["sequence_number"] = self._sequence
            self._sequence += 1
        return encoded

    @override
    def _frame(self, item: Mapping[str, Any]) -> str:
        return json_frame(item, event=item["type"])

    @override
    def _items(self, event: turn.TurnEvent) -> list[ResponsesEvent]:
        index = len(self._output)
        match event:
            case turn.TextContent(id, text):
                return [self._texts[id].delta(text)]
            case turn.TextStarted(id, thought):
                started = ReasoningItem(index, id) if thought else MessageItem(index, id)
                self._output.append(started)
                self._texts[id] = started
                return started.start()
            case turn.TextEnded(id, text, _, signature):
                ended = self._texts.pop(id)
                if isinstance(ended, ReasoningItem):
                    return ended.finish(text, signature=signature)
                return ended.finish(text)
            case turn.ToolCallStarted(id, name, pending=pending):
                if pending:
                    call = FunctionCallItem(index, id, name)
                else:
                    call = ServerCallItem(index, id, name, server=self._model)
                self._output.append(call)
                self._calls[id] = call
                return call.start()
            case turn.ToolCallArguments(id, delta):
                return [self._calls[id].delta(delta)]
            case turn.ToolCallEnded(ToolCall(id) as call):
                return self._calls[id].finish(call.arguments_json)
            case turn.ToolCallResult(_, result):
                call = self._calls.get(result.id)
                if isinstance(call, ServerCallItem) and not call.done:
                    return call.finish_with(result)
                return []
            case turn.ArtifactUpdated(id, name, parts):
                text = parts_as_text(name, parts)
                message = MessageItem(index, f"{id}_{index}")
                self._output.append(message)
                return [*message.start(), message.delta(text), *message.finish(text)]
            case turn.RunStarted():
                kinds = ("response.created", "response.in_progress")
                return [self._snapshot(kind, "in_progress") for kind in kinds]
            case turn.RunFinished() | turn.RunPaused() | turn.RunFailed() | turn.RunCanceled():
                unanswered = [
                    item
                    for call in self._calls.values()
                    if isinstance(call, ServerCallItem) and not call.done
                    for item in call.fail("The call has no result.")
                ]
                return [*unanswered, self._last_event(event)]
            case _:
                return []

    def _last_event(self, event: turn.RunEnd) -> ResponsesEvent:
        match event:
            case turn.RunFinished(usage, truncated=True):
                details = {"reason": "max_output_tokens"}
                return self._snapshot(
                    "response.incomplete", "incomplete", usage=usage, incomplete_details=details
                )
            case turn.RunFinished(usage) | turn.RunPaused(usage=usage):
                return self._snapshot("response.completed", "completed", usage=usage)
            case turn.RunFailed(text, _, usage):
                error = {"code": "server_error", "message": text}
                return self._snapshot("response.failed", "failed", usage=usage, error=error)
            case turn.RunCanceled():
                return self._snapshot("response.incomplete", "cancelled")

    def _snapshot(
        self,
        kind: str,
        status: str,
        *,
        usage: dict[str, int] | None = None,
        error: dict[str, Any] | None = None,
        incomplete_details: dict[str, Any] | None = None,
    ) -> ResponsesEvent:
        """An event with the response as it is now."""
        self.response = {
            **self._head,
            "status": status,
            "error": error,
            "incomplete_details": incomplete_details,
            "output": [dict(item.item) for item in self._output if status != "in_progress"],
        }
        if usage:
            tokens = token_counts(usage)
            # openai 3.x requires cache_write_tokens, 2.x accepts it.
            cached = {"cached_tokens": tokens.cached, "cache_write_tokens": 0}
            self.response["usage"] = {
                "input_tokens": tokens.input,
                "input_tokens_details": cached,
                "output_tokens": tokens.output,
                "output_tokens_details": {"reasoning_tokens": tokens.thoughts},
                "total_tokens": tokens.total,
            }
        return {"type": kind, "response": self.response}


class OutputItem:
    """One item of the output, at the position `index`; its methods return the events about it."""

    def __init__(self, index: int, **item: Any) -> None:
        self.index = index
        self.item = item
        self.done = False

    def start(self) -> list[ResponsesEvent]:
        added = {"type": "response.output_item.added", "output_index": self.index}
        return [{**added, "item": dict(self.item)}]

    def _end(self, **changes: Any) -> ResponsesEvent:
        self.done = True
        self.item.update(changes)
        done = {"type": "response.output_item.done", "output_index": self.index}
        return {**done, "item": dict(self.item)}

    def _event(self, kind: str, **fields: Any) -> ResponsesEvent:
        item = {"item_id": self.item["id"], "output_index": self.index}
        return {"type": f"response.{kind}", **item, **fields}


class MessageItem(OutputItem):
    def __init__(self, index: int, message_id: str) -> None:
        status: dict[str, Any] = {"status": "in_progress", "role": "assistant", "content": []}
        super().__init__(index, type="message", id=f"msg_{message_id}", **status)

    @override
    def start(self) -> list[ResponsesEvent]:
        part = _output_text("")
        return [*super().start(), self._event("content_part.added", content_index=0, part=part)]

    def delta(self, text: str) -> ResponsesEvent:
        return self._event("output_text.delta", content_index=0, delta=text, logprobs=[])

    def finish(self, text: str) -> list[ResponsesEvent]:
        part = _output_text(text)
        return [
            self._event("output_text.done", content_index=0, text=text, logprobs=[]),
            self._event("content_part.done", content_index=0, part=part),
            self._end(status="completed", content=[part]),
        ]


class ReasoningItem(OutputItem):
    def __init__(self, index: int, message_id: str) -> None:
        super().__init__(index, type="reasoning", id=f"rs_{message_id}", summary=[])

    @override
    def start(self) -> list[ResponsesEvent]:
        kind = "reasoning_summary_part.added"
        return [*super().start(), self._event(kind, summary_index=0, part=_summary(""))]

    def delta(self, text: str) -> ResponsesEvent:
        return self._event("reasoning_summary_text.delta", summary_index=0, delta=text)

    def finish(self, text: str, *, signature: str = "") -> list[ResponsesEvent]:
        part = _summary(text)
        signed = {"encrypted_content": signature} if signature else {}
        return [
            self._event("reasoning_summary_text.done", summary_index=0, text=text),
            self._event("reasoning_summary_part.done", summary_index=0, part=part),
            self._end(summary=[part], status="completed", **signed),
        ]


class FunctionCallItem(OutputItem):
    """A call that the client has to answer."""

    def __init__(self, index: int, call_id: str, name: str) -> None:
        item = {"id": f"fc_{call_id}", "status": "in_progress", "call_id": call_id}
        super().__init__(index, type="function_call", **item, name=name, arguments="")

    def delta(self, text: str) -> ResponsesEvent:
        return self._event("function_call_arguments.delta", delta=text)

    def finish(self, arguments: str) -> list[ResponsesEvent]:
        name, kind = self.item["name"], "function_call_arguments.done"
        return [
            self._event(kind, arguments=arguments, name=name),
            self._end(status="completed", arguments=arguments),
        ]


class ServerCallItem(OutputItem):
    """A call that the server answers itself."""

    def __init__(self, index: int, call_id: str, name: str, *, server: str) -> None:
        item = {"id": f"mcp_{call_id}", "status": "in_progress", "name": name}
        super().__init__(index, type="mcp_call", **item, server_label=server, arguments="")

    @override
    def start(self) -> list[ResponsesEvent]:
        return [*super().start(), self._event("mcp_call.in_progress")]

    def delta(self, text: str) -> ResponsesEvent:
        return self._event("mcp_call_arguments.delta", delta=text)

    def finish(self, arguments: str) -> list[ResponsesEvent]:
        self.item["arguments"] = arguments
        return [self._event("mcp_call_arguments.done", arguments=arguments)]

    def finish_with(self, result: ToolResult) -> list[ResponsesEvent]:
        if result.failed:
            return self.fail(result.text)
        done = self._end(status="completed", output=result.text)
        return [self._event("mcp_call.completed"), done]

    def fail(self, reason: str) -> list[ResponsesEvent]:
        # `error` is text in openai 2 and an object in openai 3: the reason is the output.
        return [self._event("mcp_call.failed"), self._end(status="failed", output=reason)]


def _output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}
