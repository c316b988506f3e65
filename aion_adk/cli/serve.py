"""Serves agents until the process is told to stop, and prints their cards."""

import json
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click
import uvicorn
from a2a.server.request_handlers.response_helpers import agent_card_to_dict

from aion_adk.cli.loader import explanation, find_agents
from aion_adk.cli.terminal import program_name
from aion_adk.errors import LoadError
from aion_adk.server.card_routes import host_and_port, reachable
from aion_adk.server.directory import Directory, directory_of
from aion_adk.server.options import ServerOptions


def serve_agents(path: str, *, host: str, port: int, options: dict[str, Any]) -> None:
    """Loads the agents, prints their addresses, and serves them."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    app = directory_at(path, options)
    listener = _listener(host, port)
    port = listener.getsockname()[1]
    url = app.options.public_url or reachable(f"http://{host_and_port(host, port)}")
    config = uvicorn.Config(
        app, log_level="warning", timeout_graceful_shutdown=app.options.seconds_to_stop
    )
    server = AnnouncingServer(config, lambda: announcement(app, url.rstrip("/")))
    with suppress(KeyboardInterrupt):  # uvicorn raises Ctrl+C again once it has stopped
        server.run(sockets=[listener])


class AnnouncingServer(uvicorn.Server):
    """Prints `text` once it accepts connections."""

    def __init__(self, config: uvicorn.Config, text: Callable[[], str]) -> None:
        super().__init__(config)
        self._text = text

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            click.echo(self._text())


def announcement(app: Directory, url: str) -> str:
    """What is served where, and what to try."""
    width = max(len(listing.name) for listing in app.listings)
    count = "1 agent" if len(app.listings) == 1 else f"{len(app.listings)} agents"
    lines = [f"Serving {count} at {url}", ""]
    for listing in app.listings:
        port = listing.app.grpc_port
        grpc = f"  gRPC on port {port}" if port else ""
        lines.append(f"  {listing.name:{width}}  {listing.url(url)}{grpc}")
    first = app.listings[0].url(url)
    lines += ["", f'Try:   {program_name()} send {first} "hello"', "Stop:  Ctrl+C"]
    return "\n".join(lines)


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {host}:{port}: {error.strerror or error}"
        ) from error
    return listener


def print_card(path: str, *, public_url: str | None) -> None:
    """Prints the card as it would be served; for several agents an object of cards by name."""
    listings = directory_at(path, {"public_url": public_url}).listings
    cards = {listing.name: agent_card_to_dict(listing.app.card) for listing in listings}
    # A single agent is at the root; a folder of agents may hold only one.
    shown = cards if listings[0].path else cards[listings[0].name]
    click.echo(json.dumps(shown, indent=2, ensure_ascii=False))


def directory_at(path: str, options: dict[str, Any]) -> Directory:
    """What is found at `path`, served; a command ends with the error of an agent or an option."""
    try:
        found = find_agents(path)
    except LoadError as error:
        raise click.ClickException(explanation(error)) from error
    try:
        served = ServerOptions(**options)
        return directory_of(found.agents, served, several=found.several, own_options=found.options)
    except (ValueError, LoadError) as error:
        raise click.ClickException(str(error)) from error
