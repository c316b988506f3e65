"""Checks agents as a client would use them: load, card, one turn."""

import asyncio
import logging

import click
import httpx
from a2a.types import Message, SendMessageRequest, StreamResponse, TaskState
from a2a.utils.errors import A2AError

from aion_adk.cli.loader import explanation, find_agents
from aion_adk.cli.send import connected, message_of
from aion_adk.cli.terminal import printable
from aion_adk.cli.transcript import state_in_words
from aion_adk.errors import LoadError
from aion_adk.protocol.task_state import PAUSED_STATES
from aion_adk.server.app import A2AApp
from aion_adk.server.build import app_of
from aion_adk.server.options import ServerOptions

_GOOD_STATES = PAUSED_STATES | {TaskState.TASK_STATE_COMPLETED}
_LONGEST_REPLY = 60
_URL = "http://check.invalid"


def check_agents(path: str, *, message: str | None) -> int:
    """Checks each agent and prints the results; returns 1 if anything did not work."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.ERROR)
    try:
        found = find_agents(path)
    except LoadError as error:
        _print_result(False, explanation(error))
        return 1
    good = True
    for name, agent in found.agents.items():
        click.secho(name, bold=True)
        _print_result(True, "loads")
        own = found.options.get(name, ServerOptions())
        try:
            app = app_of(agent, ServerOptions(public_url=_URL).overriding(own))
        except (ValueError, LoadError) as error:
            _print_result(False, str(error))
            good = False
            continue
        count = len(app.card.skills)
        _print_result(True, f"has a card with {count} {'skill' if count == 1 else 'skills'}")
        if message is not None:
            good &= asyncio.run(_turn_works(app, message))
    return 0 if good else 1


async def _turn_works(app: A2AApp, text: str) -> bool:
    async with app.running():
        try:
            frame = await _last_frame(app, text)
        except A2AError as error:
            _print_result(False, f"refuses the message: {error}")
            return False
    if frame.HasField("message"):
        _print_result(True, f"answers: {_start_of(frame.message)}")
        return True
    status = frame.task.status
    good = status.state in _GOOD_STATES
    _print_result(good, f"a turn ends {state_in_words(status.state)}: {_start_of(status.message)}")
    return good


async def _last_frame(app: A2AApp, text: str) -> StreamResponse:
    async with connected(_URL, stream=False, transport=httpx.ASGITransport(app)) as client:
        frames = client.send_message(SendMessageRequest(message=message_of(text)))
        return [frame async for frame in frames][-1]


def _start_of(message: Message) -> str:
    text = " ".join(printable("".join(part.text for part in message.parts)).split())
    if not text:
        return f"({len(message.parts)} parts)" if message.parts else "(no text)"
    return text if len(text) <= _LONGEST_REPLY else f"{text[:_LONGEST_REPLY]}…"


def _print_result(good: bool, text: str) -> None:
    mark = click.style("✓", fg="green") if good else click.style("✗", fg="red")
    click.echo(f"  {mark} {text}", err=not good)
