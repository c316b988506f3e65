"""Streamed texts on one terminal: one speaks, the others are held until it has finished."""

from dataclasses import dataclass, field

from aion_adk.cli.view import View


@dataclass
class _Section:
    heading: str
    waiting: list[str] = field(default_factory=list[str])
    over: bool = False


class Speech:
    """Texts that come in pieces, several at a time; each is shown whole, as early as can be."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._sections: dict[str, _Section] = {}
        self._texts: dict[str, str] = {}
        self._heard: list[str] = []

    def say(self, key: str, text: str, *, heading: str = "") -> None:
        self._texts[key] = self._texts.get(key, "") + text
        section = self._sections.setdefault(key, _Section(heading))
        section.waiting.append(text)
        self._show()

    def end(self, key: str) -> None:
        if key in self._sections:
            self._sections[key].over = True
            self._heard.append(self._texts.pop(key))
        self._show()

    def end_all(self) -> None:
        for key in list(self._sections):
            self.end(key)

    def has_said(self, text: str) -> bool:
        """Whether `text` was streamed, as one section or as all of them together."""
        texts = [*self._heard, *self._texts.values()]
        return text.strip() in {"", *map(str.strip, texts), "".join(texts).strip()}

    def _show(self) -> None:
        """Shows the oldest section, and each next one once it is over."""
        for key, section in list(self._sections.items()):
            if section.heading and section.waiting:
                self._view.note(section.heading)
                section.heading = ""
            self._view.answer("".join(section.waiting))
            section.waiting.clear()
            if not section.over:
                return
            self._view.end_line()
            del self._sections[key]
