"""An n8n workflow behind a webhook as an agent."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, ClassVar, Unpack, cast

import httpx
from google.adk.agents.invocation_context import InvocationContext
from google.genai import types
from pydantic import Field, PrivateAttr
from typing_extensions import override

from aion_adk.drivers.answer import DriverAnswer
from aion_adk.drivers.driver import DriverItem
from aion_adk.drivers.inputs import InputOptions, MappedInputDriver, conversation_id, user_parts
from aion_adk.errors import TaskFailed
from aion_adk.protocol.from_genai import data_part
from aion_adk.protocol.structs import json_object
from aion_adk.protocol.to_genai import DEFAULT_MIME_TYPE

logger = logging.getLogger(__name__)

_ANSWER_KEYS = ("output", "text", "response", "answer", "message", "result")
_STARTED = "Workflow was started"
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_WORTH_ANOTHER_TRY = frozenset({429, 502, 503, 504})
_REFUSED = "The n8n webhook refused the credentials of this agent."
_REASONS = {
    401: _REFUSED,
    403: _REFUSED,
    404: "The n8n webhook is not registered: its workflow must be active and take POST.",
}
_SECONDS_TO_CONNECT = 10.0
_LOGGED = 500


class N8nOptions(InputOptions, total=False):
    """Keyword options of N8nAgent."""

    headers: Mapping[str, str]
    message_field: str
    payload_template: Mapping[str, Any]
    output_key: str | None
    max_retries: int
    backoff: float
    idempotent: bool
    client: httpx.AsyncClient | None


class N8nAgent(MappedInputDriver):
    """Posts each turn once to `webhook_url` and answers with the workflow's response.

    The body has the text under `message_field`, the conversation under `sessionId`, and
    `payload_template`, which wins over what a caller sends. A request is retried only if it
    certainly was not sent, or with `idempotent=True`.
    """

    references: ClassVar[frozenset[str]] = frozenset({"client"})

    webhook_url: str = Field(pattern="^https?://")
    headers: dict[str, str] = Field(default_factory=dict[str, str], repr=False)
    message_field: str = "message"
    payload_template: dict[str, Any] = Field(default_factory=dict[str, Any])
    output_key: str | None = None
    max_retries: int = Field(default=2, ge=0)
    backoff: float = Field(default=0.5, ge=0)
    idempotent: bool = False
    client: httpx.AsyncClient | None = Field(default=None, repr=False)
    _own_client: httpx.AsyncClient | None = PrivateAttr(default=None)

    def __init__(self, name: str, webhook_url: str, **options: Unpack[N8nOptions]) -> None:
        super().__init__(name=name, webhook_url=webhook_url, **options)

    @override
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[DriverItem, None]:
        payload = await self._payload(ctx)
        answer = DriverAnswer(ctx)
        response = await self._post(payload, _files_in(user_parts(ctx)))
        try:
            body: list[str] = []
            async with aclosing(_lines(response)) as lines:
                async for line in lines:
                    # n8n sends a streaming response with the content type of a plain object.
                    frame = (json_object(line) if not body else None) or {}
                    content = frame.get("content")
                    match frame.get("type"):
                        case "item":
                            if isinstance(content, str):
                                for event in answer.add_chunk(content):
                                    yield event
                        case "begin" | "end":
                            pass
                        case "error":
                            logger.error("the n8n workflow failed: %s", str(content)[:_LOGGED])
                            raise TaskFailed("The n8n workflow failed.")
                        case _:
                            body.append(line)
        finally:
            await response.aclose()
        if body:
            _add_body(answer, "\n".join(body), self.output_key)
        for event in answer.final_events():
            yield event

    @override
    async def aclose(self) -> None:
        if self._own_client is not None:
            await self._own_client.aclose()
            self._own_client = None

    @override
    def _plain_input(self, ctx: InvocationContext, text: str) -> Any:
        return {self.message_field: text}

    async def _payload(self, ctx: InvocationContext) -> dict[str, Any]:
        given = await self._input(ctx)
        if not isinstance(given, Mapping):
            raise TypeError(f"input_mapper must return an object, got {type(given).__name__}")
        payload = {**cast(Mapping[str, Any], given), "sessionId": conversation_id(ctx)}
        urls = [
            {"url": file.file_uri, "mimeType": file.mime_type, "name": file.display_name}
            for part in user_parts(ctx)
            if (file := part.file_data)
        ]
        return {**payload, **({"files": urls} if urls else {}), **self.payload_template}

    async def _post(self, payload: dict[str, Any], files: "_Files") -> httpx.Response:
        body: dict[str, Any] = {"json": payload}
        if files:
            fields = {k: v if isinstance(v, str) else json.dumps(v) for k, v in payload.items()}
            body = {"data": fields, "files": files}
        for attempt in range(self.max_retries + 1):
            last = attempt == self.max_retries
            client = self._client()
            request = client.build_request("POST", self.webhook_url, headers=self.headers, **body)
            try:
                response = await client.send(request, stream=True)
            except httpx.TransportError as error:
                if last or not (self.idempotent or isinstance(error, _NOT_SENT)):
                    logger.exception("%s: the n8n webhook could not be called", self.name)
                    raise TaskFailed("The n8n workflow could not be reached.") from error
            else:
                if response.is_success:
                    return response
                text = (await response.aread()).decode(errors="replace")
                if last or not (self.idempotent and response.status_code in _WORTH_ANOTHER_TRY):
                    logger.error("%s: n8n answered %s: %s", self.name, response, text[:_LOGGED])
                    status = f"The n8n workflow answered with status {response.status_code}."
                    raise TaskFailed(_REASONS.get(response.status_code, status))
            await asyncio.sleep(self.backoff * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    def _client(self) -> httpx.AsyncClient:
        if self.client is not None:
            return self.client
        if self._own_client is None:
            # The driver's own deadline is for the whole answer.
            timeout = httpx.Timeout(None, connect=_SECONDS_TO_CONNECT)
            self._own_client = httpx.AsyncClient(timeout=timeout)
        return self._own_client


_Files = list[tuple[str, tuple[str, bytes, str]]]


def _files_in(parts: list[types.Part]) -> _Files:
    blobs = [blob for part in parts if (blob := part.inline_data)]
    files: _Files = []
    for index, blob in enumerate(blobs):
        if blob.data:
            name, mime_type = f"file{index}", blob.mime_type or DEFAULT_MIME_TYPE
            files.append((name, (blob.display_name or name, blob.data, mime_type)))
    return files


async def _lines(response: httpx.Response) -> AsyncGenerator[str, None]:
    """Lines that end with a newline alone: text may hold other line separators."""
    rest = b""
    async for chunk in response.aiter_bytes():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


def _add_body(answer: DriverAnswer, body: str, output_key: str | None) -> None:
    try:
        parsed = json.loads(body)
    except ValueError:
        answer.add(body)
        return
    for item in cast(list[Any], parsed) if isinstance(parsed, list) else [parsed]:
        if not isinstance(item, dict):
            answer.add(item if isinstance(item, str) else json.dumps(item))
            continue
        found = cast(dict[str, Any], item)
        if found.get("message") == _STARTED:
            raise TaskFailed(
                "The n8n workflow was started but gave no answer: its Webhook node must respond"
                " when the last node finishes, or with a Respond to Webhook node."
            )
        if output_key is not None:
            answer.add(found.get(output_key))
            continue
        key = next((key for key in _ANSWER_KEYS if isinstance(found.get(key), str)), None)
        if key is not None:
            answer.add(found[key])
        if key is None or len(found) > 1:
            answer.add([data_part(found)])
