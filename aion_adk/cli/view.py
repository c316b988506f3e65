"""How things look on a terminal: answers on standard output, everything else on standard error.

Colours are left out when piped. With `rich` installed, data on a terminal is highlighted.
"""

import json
import re
import sys
from importlib.util import find_spec

import click

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def printable(text: str) -> str:
    """`text` without the control characters by which an agent could drive the terminal."""
    return _CONTROL.sub("", text)


def printable_json(text: str) -> str:
    """The same JSON with its control characters as escapes: data must not lose any."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class View:
    """Plain text, coloured on a terminal."""

    def __init__(self) -> None:
        self._line_open = False

    def answer(self, text: str) -> None:
        """Text of the agent, as it comes: no line end of our own."""
        text = printable(text)
        if text:
            click.echo(text, nl=False)
            sys.stdout.flush()
            self._line_open = not text.endswith("\n")

    def end_line(self) -> None:
        if self._line_open:
            click.echo()
            self._line_open = False

    def data(self, value: object) -> None:
        self.end_line()
        click.echo(_shown(value))

    def note(self, text: str) -> None:
        self.end_line()
        click.secho(printable(text), err=True, dim=True)

    def problem(self, text: str) -> None:
        self.end_line()
        click.secho(printable(text), err=True, fg="red")


class QuietView(View):
    """Shows nothing of an answer; its problems are still told."""

    def answer(self, text: str) -> None:
        pass

    def data(self, value: object) -> None:
        pass

    def note(self, text: str) -> None:
        pass


class RichView(View):
    def data(self, value: object) -> None:
        # An extra, and slow to load where nothing is highlighted.
        from rich.console import Console
        from rich.highlighter import JSONHighlighter

        self.end_line()
        Console().print(JSONHighlighter()(_shown(value)), soft_wrap=True)


def view_for_terminal() -> View:
    return RichView() if sys.stdout.isatty() and find_spec("rich") else View()


def _shown(value: object) -> str:
    return printable_json(json.dumps(value, indent=2, ensure_ascii=False))
