"""Sends one message to an A2A agent and prints the answer."""

import asyncio
import json
import mimetypes
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import quote

import click
import httpx
from a2a.client import AgentCardResolutionError, Client, ClientConfig, create_client
from a2a.types import Message, Part, Role, SendMessageRequest
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToJson

from aion_adk.cli.terminal import QuietView, View, printable_json, program_name, view_for_terminal
from aion_adk.cli.transcript import COMPLETED, NO_ANSWER, WAITING, Transcript, state_in_words
from aion_adk.protocol.stamp import new_id
from aion_adk.protocol.structs import to_value

INTERRUPTED = 130

# An answer may take long; only connecting is quick.
_TIMEOUT = httpx.Timeout(None, connect=10)


def send_message(
    url: str,
    message: Message,
    *,
    stream: bool,
    headers: Mapping[str, str],
    save_to: Path,
    as_json: bool,
) -> int:
    """Returns the exit code."""
    view = view_for_terminal()
    transcript = Transcript(QuietView() if as_json else view, save_to=None if as_json else save_to)

    async def exchange() -> None:
        async with connected(url, stream=stream, headers=headers) as client:
            async for frame in client.send_message(SendMessageRequest(message=message)):
                if as_json:
                    text = MessageToJson(frame, indent=None, ensure_ascii=False)
                    click.echo(printable_json(text))
                transcript.show(frame)

    try:
        asyncio.run(exchange())
    except (A2AError, httpx.HTTPError) as error:
        view.problem(reason_of(error, url))
        return NO_ANSWER
    except KeyboardInterrupt:
        view.problem(f"Stopped waiting; task {transcript.task_id or '(unknown)'} keeps running.")
        return INTERRUPTED
    transcript.end()
    print_next_step(view, url, transcript)
    return transcript.exit_code


def message_of(
    text: str | None,
    *,
    files: Iterable[Path] = (),
    data: str | None = None,
    context_id: str = "",
    task_id: str = "",
) -> Message:
    """A user's message; `data` is JSON."""
    parts = [Part(text=text)] if text is not None else []
    for path in files:
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        parts.append(Part(raw=path.read_bytes(), filename=path.name, media_type=media_type))
    if data is not None:
        parts.append(Part(data=to_value(json.loads(data))))
    return Message(
        message_id=new_id(),
        role=Role.ROLE_USER,
        parts=parts,
        context_id=context_id,
        task_id=task_id,
    )


@asynccontextmanager
async def connected(
    url: str,
    *,
    stream: bool,
    headers: Mapping[str, str] | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncGenerator[Client, None]:
    async with httpx.AsyncClient(timeout=_TIMEOUT, headers=headers, transport=transport) as http:
        config = ClientConfig(
            httpx_client=http,
            streaming=stream,
            supported_protocol_bindings=["JSONRPC", "HTTP+JSON"],
        )
        async with await create_client(url, client_config=config) as client:
            yield client


def reason_of(error: Exception, url: str) -> str:
    """What went wrong between here and the server, in one line."""
    cause = error.__cause__ or error
    match cause:
        case httpx.ConnectError() | httpx.ConnectTimeout():
            return f"Cannot connect to {url}: is a server running there?"
        case httpx.HTTPStatusError(response=response) if isinstance(
            error, AgentCardResolutionError
        ):
            status = response.status_code
            return (
                f"No agent at {url}: the request for its card failed with HTTP {status}."
                " The agents of a folder are each served under /a2a/<name>."
            )
        case httpx.HTTPStatusError(response=response):
            return f"{url} answered with HTTP {response.status_code}."
        case httpx.HTTPError():
            return f"The connection to {url} broke: {cause or type(cause).__name__}"
        case _ if isinstance(error, AgentCardResolutionError):
            return f"No agent at {url}: the answer is not an agent card."
        case _:
            return f"The server refused the call: {' '.join(str(error).split())}"


def print_next_step(view: View, url: str, transcript: Transcript) -> None:
    """Prints how to continue, and the state if the task did not complete.

    The server chose the ids, and the command may be pasted into a shell: they are quoted.
    """
    state = state_in_words(transcript.state)
    if transcript.exit_code == WAITING:
        view.note(f"\nThe task waits ({state}). Answer it with:")
        view.note(f'  {program_name()} send {quote(url)} "…" --task {quote(transcript.task_id)}')
    elif transcript.exit_code == NO_ANSWER:
        view.problem("The answer ended before the task did.")
    elif transcript.exit_code != COMPLETED:
        view.problem(f"The task ended: {state}.")
    elif transcript.context_id:
        view.note(f"\nContinue with: --context {quote(transcript.context_id)}")
