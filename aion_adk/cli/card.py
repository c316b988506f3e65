"""Prints agent cards."""

import json
from typing import Any

import click
from a2a.server.request_handlers.response_helpers import agent_card_to_dict

from aion_adk.directory import directory_of
from aion_adk.loader import found_at
from aion_adk.options import ServerOptions


def print_card(path: str, *, public_url: str | None) -> None:
    """Prints the card as it would be served; for several agents an object of cards by name."""
    found = found_at(path)
    try:
        app = directory_of(
            found.agents,
            ServerOptions(public_url=public_url),
            several=found.several,
            own_options=found.options,
        )
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    cards: dict[str, Any] = {
        listing.name: agent_card_to_dict(listing.app.card) for listing in app.listings
    }
    shown = cards if found.several else next(iter(cards.values()))
    click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
