import json

import pytest

from aion_adk.cli.speech import Speech
from aion_adk.cli.view import RichView, View, printable


def test_who_speaks_second_is_held_until_the_first_has_finished(
    capsys: pytest.CaptureFixture[str],
) -> None:
    speech = Speech(View())
    for key, text in [("a", "A1 "), ("b", "B1 "), ("a", "A2"), ("b", "B2")]:
        speech.say(key, text)
    assert capsys.readouterr().out == "A1 A2"
    speech.end("a")
    assert capsys.readouterr().out == "\nB1 B2"
    speech.say("b", "B3")
    speech.end("b")
    assert capsys.readouterr().out == "B3\n"


def test_who_finishes_while_held_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    speech = Speech(View())
    for key in ("a", "b", "c"):
        speech.say(key, key)
    speech.end("b")
    speech.end_all()
    assert capsys.readouterr().out == "a\nb\nc\n"


def test_a_heading_comes_once_before_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    speech = Speech(View())
    speech.say("a", "1", heading="notes:")
    speech.say("a", "2", heading="notes:")
    speech.end("a")
    assert capsys.readouterr() == ("12\n", "notes:\n")


def test_what_was_streamed_is_known_by_section_and_as_a_whole() -> None:
    speech = Speech(View())
    speech.say("a", "one ")
    speech.end("a")
    speech.say("b", "two")
    assert [speech.has_said(text) for text in ("one", "two", "one two", "")] == [True] * 4
    assert not speech.has_said("three")


def test_data_is_the_same_json_with_and_without_rich(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"a": [1, "é"]}
    View().data(value)
    plain = capsys.readouterr().out
    RichView().data(value)
    assert capsys.readouterr().out == plain


@pytest.mark.parametrize("view", [View(), RichView()])
def test_data_cannot_drive_the_terminal_and_is_whole(
    view: View, capsys: pytest.CaptureFixture[str]
) -> None:
    value = {"a": "\x9b31mred\x1b[0m\x7f", "b": "10\u00a0000"}
    view.data(value)
    shown = capsys.readouterr().out
    assert json.loads(shown) == value
    assert not {"\x9b", "\x1b", "\x7f"} & set(shown)


def test_printable_keeps_letters_of_every_script_and_line_ends() -> None:
    text = "naïve 日本語 👩‍🚀\n\ttab 10\u00a0000 全角\u3000空白"
    assert printable(text) == text
    assert printable("a\x1b[1mb\x00\r\x85c\u2028d") == "a[1mbcd"
