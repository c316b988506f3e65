"""The items of a response, each with the events that make it."""

from typing import Any

from aion_adk.formats.tools import ToolResult

ItemDict = dict[str, Any]
ResponsesEvent = dict[str, Any]


class OutputItem:
    """One item of the output while it is made; `index` is its place in the output."""

    def __init__(self, index: int, item: ItemDict) -> None:
        self.index = index
        self.item = item
        self.done = False

    def added(self) -> ResponsesEvent:
        return self._event("response.output_item.added", item=dict(self.item))

    def end(self, **changes: Any) -> ResponsesEvent:
        self.done = True
        self.item.update(changes)
        return self._event("response.output_item.done", item=dict(self.item))

    def part_event(self, kind: str, **fields: Any) -> ResponsesEvent:
        """An event about something in the item."""
        return {
            "type": f"response.{kind}",
            "item_id": self.item["id"],
            "output_index": self.index,
            **fields,
        }

    def _event(self, kind: str, **fields: Any) -> ResponsesEvent:
        return {"type": kind, "output_index": self.index, **fields}


class MessageItem(OutputItem):
    def __init__(self, index: int, message_id: str) -> None:
        item: ItemDict = {"type": "message", "id": f"msg_{message_id}", "status": "in_progress"}
        super().__init__(index, {**item, "role": "assistant", "content": []})

    def begin(self) -> list[ResponsesEvent]:
        part = _output_text("")
        return [self.added(), self.part_event("content_part.added", content_index=0, part=part)]

    def delta(self, text: str) -> ResponsesEvent:
        kind = "output_text.delta"
        return self.part_event(kind, content_index=0, delta=text, logprobs=[])

    def finish(self, text: str) -> list[ResponsesEvent]:
        part = _output_text(text)
        return [
            self.part_event("output_text.done", content_index=0, text=text, logprobs=[]),
            self.part_event("content_part.done", content_index=0, part=part),
            self.end(status="completed", content=[part]),
        ]


class ReasoningItem(OutputItem):
    def __init__(self, index: int, message_id: str) -> None:
        super().__init__(index, {"type": "reasoning", "id": f"rs_{message_id}", "summary": []})

    def begin(self) -> list[ResponsesEvent]:
        kind = "reasoning_summary_part.added"
        return [self.added(), self.part_event(kind, summary_index=0, part=_summary(""))]

    def delta(self, text: str) -> ResponsesEvent:
        return self.part_event("reasoning_summary_text.delta", summary_index=0, delta=text)

    def finish(self, text: str, *, signature: str = "") -> list[ResponsesEvent]:
        part = _summary(text)
        signed = {"encrypted_content": signature} if signature else {}
        return [
            self.part_event("reasoning_summary_text.done", summary_index=0, text=text),
            self.part_event("reasoning_summary_part.done", summary_index=0, part=part),
            self.end(summary=[part], status="completed", **signed),
        ]


class FunctionCallItem(OutputItem):
    """A call that the client has to answer."""

    def __init__(self, index: int, call_id: str, name: str) -> None:
        item: ItemDict = {"type": "function_call", "id": f"fc_{call_id}", "status": "in_progress"}
        super().__init__(index, {**item, "call_id": call_id, "name": name, "arguments": ""})

    def begin(self) -> list[ResponsesEvent]:
        return [self.added()]

    def delta(self, text: str) -> ResponsesEvent:
        return self.part_event("function_call_arguments.delta", delta=text)

    def finish(self, arguments: str) -> list[ResponsesEvent]:
        name = self.item["name"]
        kind = "function_call_arguments.done"
        return [
            self.part_event(kind, arguments=arguments, name=name),
            self.end(status="completed", arguments=arguments),
        ]


class ServerCallItem(OutputItem):
    """A call that the server answers itself: nothing for the client to run."""

    def __init__(self, index: int, call_id: str, name: str, *, server: str) -> None:
        item: ItemDict = {"type": "mcp_call", "id": f"mcp_{call_id}", "status": "in_progress"}
        super().__init__(index, {**item, "name": name, "server_label": server, "arguments": ""})

    def begin(self) -> list[ResponsesEvent]:
        return [self.added(), self.part_event("mcp_call.in_progress")]

    def delta(self, text: str) -> ResponsesEvent:
        return self.part_event("mcp_call_arguments.delta", delta=text)

    def finish(self, arguments: str) -> list[ResponsesEvent]:
        self.item["arguments"] = arguments
        return [self.part_event("mcp_call_arguments.done", arguments=arguments)]

    def finish_with(self, result: ToolResult) -> list[ResponsesEvent]:
        if result.failed:
            return self.fail(result.text)
        done = self.end(status="completed", output=result.text)
        return [self.part_event("mcp_call.completed"), done]

    def fail(self, reason: str) -> list[ResponsesEvent]:
        # `error` is text in openai 2 and an object in openai 3: the reason is the output.
        return [self.part_event("mcp_call.failed"), self.end(status="failed", output=reason)]


def _output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}
