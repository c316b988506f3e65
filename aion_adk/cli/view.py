"""How things look on a terminal: answers on standard output, everything else on standard error.

Colours are left out when piped. With `rich` installed, data on a terminal is highlighted.
"""

import json
import re
import sys
from importlib.util import find_spec

import click

_CONTROL = re.compile(r"[^\S \n\t]|[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """`text` without the control characters by which an agent could drive the terminal."""
    return _CONTROL.sub("", text)


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
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))

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
        from rich import print_json  # an extra, and slow to load where nothing is highlighted

        self.end_line()
        print_json(data=value, ensure_ascii=False)


def view_for_terminal() -> View:
    return RichView() if sys.stdout.isatty() and find_spec("rich") else View()
