"""What is printed: answers on standard output, everything else on standard error.

Colours are left out when piped. With `rich` installed, data on a terminal is highlighted.
"""

import json
import os
import re
import shutil
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec

import click

PROGRAM = "aion-adk"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def printable(text: str) -> str:
    """`text` without control characters: an agent must not control the terminal."""
    return _CONTROL.sub("", text)


def printable_json(text: str) -> str:
    """The same JSON with control characters escaped: data must not lose any."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def program_name() -> str:
    """The name of this program, or the path it was started by if the name is not on PATH."""
    started_by = sys.argv[0]
    if os.path.basename(started_by) != PROGRAM or shutil.which(PROGRAM):
        return PROGRAM
    return os.path.relpath(started_by)


class View:
    """Prints plain text, coloured on a terminal."""

    def __init__(self) -> None:
        self._line_open = False

    def answer(self, text: str) -> None:
        """Text of the agent as it arrives; adds no line end."""
        text = printable(text)
        if text:
            click.echo(text, nl=False)
            self._line_open = not text.endswith("\n")

    def end_line(self) -> None:
        if self._line_open:
            click.echo()
            self._line_open = False

    def data(self, value: object) -> None:
        self.end_line()
        click.echo(_indented_json(value))

    def note(self, text: str) -> None:
        self.end_line()
        click.secho(printable(text), err=True, dim=True)

    def problem(self, text: str) -> None:
        self.end_line()
        click.secho(printable(text), err=True, fg="red")


class QuietView(View):
    """Prints problems only."""

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
        Console().print(JSONHighlighter()(_indented_json(value)), soft_wrap=True)


def view_for_terminal() -> View:
    return RichView() if sys.stdout.isatty() and find_spec("rich") else View()


def _indented_json(value: object) -> str:
    return printable_json(json.dumps(value, indent=2, ensure_ascii=False))


@dataclass
class _Section:
    heading: str
    pending: list[str] = field(default_factory=list[str])
    ended: bool = False


class StreamedTexts:
    """Prints texts that arrive in pieces at the same time, one after the other.

    The oldest one is printed as it arrives, the others are held back until it has ended.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._sections: dict[str, _Section] = {}
        self._open_texts: dict[str, str] = {}
        self._ended_texts: list[str] = []

    def add(self, key: str, text: str, *, heading: str = "") -> None:
        self._open_texts[key] = self._open_texts.get(key, "") + text
        section = self._sections.setdefault(key, _Section(heading))
        section.pending.append(text)
        self._print()

    def end(self, key: str) -> None:
        section = self._sections.get(key)
        if section and not section.ended:
            section.ended = True
            self._ended_texts.append(self._open_texts.pop(key))
        self._print()

    def end_all(self) -> None:
        for key in list(self._sections):
            self.end(key)

    def contain(self, text: str) -> bool:
        """Whether `text` was streamed, as one section or as all of them together."""
        texts = [*self._ended_texts, *self._open_texts.values()]
        return text.strip() in {"", *map(str.strip, texts), "".join(texts).strip()}

    def _print(self) -> None:
        for key, section in list(self._sections.items()):
            if section.heading and section.pending:
                self._view.note(section.heading)
                section.heading = ""
            self._view.answer("".join(section.pending))
            section.pending.clear()
            if not section.ended:
                return
            self._view.end_line()
            del self._sections[key]
