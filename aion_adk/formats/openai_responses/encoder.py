"""A turn as a response of the Responses API: its events as it goes on, or the whole of it."""

from collections.abc import Sequence
from typing import Any

from a2a.types import Message, Task
from typing_extensions import override

from aion_adk.formats.encoder import Encoder
from aion_adk.formats.narration import Narrator
from aion_adk.formats.openai_responses.items import (
    Event,
    FunctionCallItem,
    MessageItem,
    OutputItem,
    ReasoningItem,
    ServerCallItem,
)
from aion_adk.formats.prose import as_prose
from aion_adk.formats.said import (
    Answered,
    CallArguments,
    CallEnded,
    CallStarted,
    Canceled,
    Failed,
    Finished,
    Paused,
    Said,
    Shown,
    SpeechDelta,
    SpeechEnded,
    SpeechStarted,
    Started,
)
from aion_adk.formats.usage import responses_usage

_UNANSWERED = "The call has no result."


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
        super().__init__(Narrator(prefix=prefix, client_tools=client_tools))
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
        self._speech: dict[str, MessageItem | ReasoningItem] = {}
        self._calls: dict[str, FunctionCallItem | ServerCallItem] = {}
        self._sequence = 0
        self.response: dict[str, Any] = {}

    @override
    def _tell(self, said: list[Said]) -> list[Event]:
        events = [event for item in said for event in self._events(item)]
        for event in events:
            event["sequence_number"] = self._sequence
            self._sequence += 1
        return events

    def _events(self, said: Said) -> list[Event]:
        match said:
            case SpeechDelta(id, text):
                return [self._speech[id].delta(text)]
            case SpeechStarted() | SpeechEnded():
                return self._tell_speech(said)
            case CallStarted() | CallArguments() | CallEnded() | Answered():
                return self._tell_call(said)
            case Shown(id, name, parts):
                text = as_prose(name, parts)
                item = self._add(MessageItem(len(self._items), f"{id}_{len(self._items)}"))
                return [*item.begin(), item.delta(text), *item.finish(text)]
            case Started():
                kinds = ("response.created", "response.in_progress")
                return [self._whole(kind, "in_progress") for kind in kinds]
            case Finished(usage, cut=True):
                closing = self._give_up_calls()
                why = {"reason": "max_output_tokens"}
                return [
                    *closing,
                    self._whole("response.incomplete", "incomplete", usage=usage, incomplete=why),
                ]
            case Finished(usage) | Paused(usage=usage):
                closing = self._give_up_calls()
                return [*closing, self._whole("response.completed", "completed", usage=usage)]
            case Failed(text, _, usage):
                error = {"code": "server_error", "message": text}
                closing = self._give_up_calls()
                return [
                    *closing,
                    self._whole("response.failed", "failed", usage=usage, error=error),
                ]
            case Canceled():
                return [*self._give_up_calls(), self._whole("response.incomplete", "cancelled")]
            case _:
                return []

    def _tell_speech(self, said: SpeechStarted | SpeechEnded) -> list[Event]:
        if isinstance(said, SpeechStarted):
            index = len(self._items)
            made = ReasoningItem(index, said.id) if said.thought else MessageItem(index, said.id)
            self._items.append(made)
            self._speech[said.id] = made
            return made.begin()
        item = self._speech.pop(said.id)
        if isinstance(item, ReasoningItem):
            return item.finish(said.text, signature=said.signature)
        return item.finish(said.text)

    def _tell_call(self, said: CallStarted | CallArguments | CallEnded | Answered) -> list[Event]:
        match said:
            case CallStarted(id, name, pending=pending):
                index = len(self._items)
                made = (
                    FunctionCallItem(index, id, name)
                    if pending
                    else ServerCallItem(index, id, name, server=self._model)
                )
                self._items.append(made)
                self._calls[id] = made
                return made.begin()
            case CallArguments(id, delta):
                return [self._calls[id].delta(delta)]
            case CallEnded(call):
                return self._calls[call.id].finish(call.arguments_json)
            case Answered(result=result):
                item = self._calls.get(result.id)
                if not isinstance(item, ServerCallItem) or item.done:
                    return []
                return item.answer(result)

    def _add(self, item: MessageItem) -> MessageItem:
        self._items.append(item)
        return item

    def _give_up_calls(self) -> list[Event]:
        """Every item that was begun is ended before the response is."""
        open_calls = [item for item in self._calls.values() if not item.done]
        return [
            event
            for item in open_calls
            if isinstance(item, ServerCallItem)
            for event in item.give_up(_UNANSWERED)
        ]

    def _whole(
        self,
        kind: str,
        status: str,
        *,
        usage: dict[str, int] | None = None,
        error: dict[str, Any] | None = None,
        incomplete: dict[str, Any] | None = None,
    ) -> Event:
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
