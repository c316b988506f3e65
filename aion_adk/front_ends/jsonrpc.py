"""JSON-RPC: calls that carry an agent's answer are answered here, all others by a2a-sdk.

Calls that are malformed, or of another version of the protocol, go to a2a-sdk too: there is one set
of errors.
"""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from a2a.server.events import Event
from a2a.server.jsonrpc_models import JSONParseError, JSONRPCError
from a2a.server.request_handlers.response_helpers import build_error_response
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.types import Message, Part, SendMessageRequest, SubscribeToTaskRequest
from a2a.utils.constants import PROTOCOL_VERSION_1_0, VERSION_HEADER
from a2a.utils.errors import A2AError
from google.protobuf.json_format import ParseDict, ParseError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from aion_adk.front_ends.sse import EventStream
from aion_adk.protocol.json_codec import frame, to_json
from aion_adk.tasks.guarded_handler import GuardedHandler

_PARAMS = {
    "SendMessage": SendMessageRequest,
    "SendStreamingMessage": SendMessageRequest,
    "SubscribeToTask": SubscribeToTaskRequest,
}
_MEMBERS = frozenset({"jsonrpc", "id", "method", "params"})
_FIELDS = {each.json_name: each.name for each in Message.DESCRIPTOR.fields if not each.is_repeated}


@dataclass(frozen=True)
class _JsonRpcCall:
    """A call that is answered here; it encodes its own answer or stream."""

    id: str | int
    method: str
    params: SendMessageRequest | SubscribeToTaskRequest

    @cached_property
    def opening(self) -> str:
        return f'{{"jsonrpc":"2.0","id":{json.dumps(self.id)},"result":'

    def result(self, event: Event) -> str:
        return f"{self.opening}{to_json(event)}}}"

    def event_frames(self, event: Event) -> list[str]:
        return [frame(self.result(event))]

    def end_frames(self) -> list[str]:
        return []

    def error_frames(self, error: Exception) -> list[str]:
        if not isinstance(error, A2AError):
            raise error
        return [frame(_error(self.id, error), event="error")]


class JsonRpc:
    """The endpoint of one agent; `others` answers every call that is not answered here."""

    def __init__(
        self, handler: GuardedHandler, *, others: Callable[[Request], Awaitable[Response]]
    ) -> None:
        self._handler = handler
        self._contexts = DefaultServerCallContextBuilder()
        self._others = others

    async def answer(self, request: Request) -> Response:
        try:
            call = await _call_of(request)
        except (ValueError, RecursionError):
            return _json_response(_error(None, JSONParseError()))
        if call is None:
            return await self._others(request)
        context = self._contexts.build(request)
        context.tenant = call.params.tenant
        # As a2a-sdk's own endpoint does: functions among the options may read them.
        context.state.update(method=call.method, request_id=call.id)
        try:
            if call.method == "SendMessage":
                params = cast(SendMessageRequest, call.params)
                answer = await self._handler.on_message_send(params, context)
                return _json_response(call.result(answer))
            if isinstance(call.params, SubscribeToTaskRequest):
                events = await self._handler.open_subscription(call.params, context)
            else:
                events = await self._handler.open_stream(call.params, context)
            # A call that is refused gets an ordinary response, not a stream.
            return EventStream(events, encoder=call, first=await events.first())
        except A2AError as error:
            return _json_response(_error(call.id, error))


async def _call_of(request: Request) -> _JsonRpcCall | None:
    """A call that is answered here; None for any other, which a2a-sdk answers.

    A body that Python cannot read although it may be JSON (its encoding, its depth, a number of
    thousands of digits) raises a ValueError or a RecursionError.
    """
    try:
        body: Any = json.loads(await request.body())
    except (HTTPException, json.JSONDecodeError):
        return None
    if request.headers.get(VERSION_HEADER) != PROTOCOL_VERSION_1_0 or not isinstance(body, dict):
        return None
    members = cast(dict[str, Any], body)
    id_, method = members.get("id"), members.get("method")
    params = members.get("params", {})
    if (
        members.get("jsonrpc") != "2.0"
        or not isinstance(id_, str | int)
        or isinstance(id_, bool)
        or not isinstance(params, dict)
        or not isinstance(method, str)
        or method not in _PARAMS
        or not members.keys() <= _MEMBERS
    ):
        return None
    parameters, kind = cast(dict[str, Any], params), _PARAMS[method]
    parsed = text_request(parameters) if kind is SendMessageRequest else None
    try:
        parsed = parsed or ParseDict(parameters, kind(), ignore_unknown_fields=True)
    except ParseError:
        return None
    return _JsonRpcCall(id_, method, parsed)


def text_request(params: dict[str, Any]) -> SendMessageRequest | None:
    """The request of a message that is text and nothing else; `ParseDict` takes long for it."""
    match params:
        case {"message": {"parts": [{"text": str(text), **more}], **fields}, **others} if not (
            more or others
        ) and all(isinstance(value, str) for value in fields.values()):
            with suppress(KeyError, TypeError, ValueError):  # ParseDict says what is wrong
                named = {_FIELDS[name]: value for name, value in fields.items()}
                return SendMessageRequest(message=Message(parts=[Part(text=text)], **named))
        case _:
            pass
    return None


def _error(id_: str | int | None, error: A2AError | JSONRPCError) -> str:
    # In ASCII: an id may hold half a surrogate pair, which no encoding can.
    return json.dumps(build_error_response(id_, error))


def _json_response(content: str) -> Response:
    return Response(content, media_type="application/json")
