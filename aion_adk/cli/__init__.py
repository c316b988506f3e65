"""`aion-adk`: serve, card, send, check."""

from aion_adk.cli.program import main

__all__ = ["main"]
