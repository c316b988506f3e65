"""The items of a response, each with the events that make it."""

from typing import Any, ClassVar

from typing_extensions import override

from aion_adk.formats.tools import ToolResult

ItemDict = dict[str, Any]
ResponsesEvent = dict[str, Any]


class OutputItem:
    """One item of the output while it is made; `index` is its place in the output."""

    delta_kind: ClassVar[str]

    def __init__(self, index: int, item: ItemDict) -> None:
        self.index = index
        self.item = item
        self.done = False

    def begin(self) -> list[ResponsesEvent]:
        added = {"type": "response.output_item.added", "output_index": self.index}
        return [{**added, "item": dict(self.item)}]

    def delta(self, text: str) -> ResponsesEvent:
        return self._event(self.delta_kind, delta=text)

    def _end(self, **changes: Any) -> ResponsesEvent:
        self.done = True
        self.item.update(changes)
        done = {"type": "response.output_item.done", "output_index": self.index}
        return {**done, "item": dict(self.item)}

    def _event(self, kind: str, **fields: Any) -> ResponsesEvent:
        """An event about something in the item."""
        about = {"item_id": self.item["id"], "output_index": self.index}
        return {"type": f"response.{kind}", **about, **fields}


class MessageItem(OutputItem):
    def __init__(self, index: int, message_id: str) -> None:
        item: ItemDict = {"type": "message", "id": f"msg_{message_id}", "status": "in_progress"}
        super().__init__(index, {**item, "role": "assistant", "content": []})

    @override
    def begin(self) -> list[ResponsesEvent]:
        part = _output_text("")
        return [*super().begin(), self._event("content_part.added", content_index=0, part=part)]

    @override
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
        super().__init__(index, {"type": "reasoning", "id": f"rs_{message_id}", "summary": []})

    @override
    def begin(self) -> list[ResponsesEvent]:
        kind = "reasoning_summary_part.added"
        return [*super().begin(), self._event(kind, summary_index=0, part=_summary(""))]

    @override
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

    delta_kind = "function_call_arguments.delta"

    def __init__(self, index: int, call_id: str, name: str) -> None:
        item: ItemDict = {"type": "function_call", "id": f"fc_{call_id}", "status": "in_progress"}
        super().__init__(index, {**item, "call_id": call_id, "name": name, "arguments": ""})

    def finish(self, arguments: str) -> list[ResponsesEvent]:
        name, kind = self.item["name"], "function_call_arguments.done"
        return [
            self._event(kind, arguments=arguments, name=name),
            self._end(status="completed", arguments=arguments),
        ]


class ServerCallItem(OutputItem):
    """A call that the server answers itself: nothing for the client to run."""

    delta_kind = "mcp_call_arguments.delta"

    def __init__(self, index: int, call_id: str, name: str, *, server: str) -> None:
        item: ItemDict = {"type": "mcp_call", "id": f"mcp_{call_id}", "status": "in_progress"}
        super().__init__(index, {**item, "name": name, "server_label": server, "arguments": ""})

    @override
    def begin(self) -> list[ResponsesEvent]:
        return [*super().begin(), self._event("mcp_call.in_progress")]

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
