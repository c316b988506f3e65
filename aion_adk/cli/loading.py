"""Loads agents for a command, or ends it with the agent's own error."""

import traceback
from pathlib import Path

import click

from aion_adk.errors import LoadError
from aion_adk.loader import Found, find_agents

_OWN_FRAMES = ("importlib", "agent_loader.py", str(Path(__file__).parent.parent))


def found_at(path: str) -> Found:
    try:
        return find_agents(path)
    except LoadError as error:
        raise click.ClickException(explanation(error)) from error


def explanation(error: LoadError) -> str:
    """What could not be loaded, then the agent's traceback from its own first line on."""
    cause = error.__cause__
    if cause is None:
        return str(error)
    told_already = isinstance(cause, LoadError)
    while cause.__cause__ is not None:
        cause = cause.__cause__
    told = traceback.TracebackException.from_exception(cause)
    frames = [frame for frame in told.stack if not _is_ours(frame.filename)]
    if told_already and all("site-packages" in frame.filename for frame in frames):
        return str(error)
    lines = [*traceback.StackSummary.from_list(frames).format(), *told.format_exception_only()]
    return f"{error}\n\n{''.join(lines).rstrip()}"


def _is_ours(filename: str) -> bool:
    return any(part in filename for part in _OWN_FRAMES)
