import json
from pathlib import Path

import pytest

from aion_adk.cli.terminal import RichView, StreamedTexts, View, printable, program_name


def test_the_second_text_is_held_back_until_the_first_has_ended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = StreamedTexts(View())
    for key, text in [("a", "A1 "), ("b", "B1 "), ("a", "A2"), ("b", "B2")]:
        texts.add(key, text)
    assert capsys.readouterr().out == "A1 A2"
    texts.end("a")
    assert capsys.readouterr().out == "\nB1 B2"
    texts.add("b", "B3")
    texts.end("b")
    assert capsys.readouterr().out == "B3\n"


def test_a_text_that_ends_while_it_is_held_back_is_printed_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = StreamedTexts(View())
    for key in ("a", "b", "c"):
        texts.add(key, key)
    texts.end("b")
    texts.end_all()
    assert capsys.readouterr().out == "a\nb\nc\n"


def test_a_text_that_comes_again_while_it_is_held_back_is_printed_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = StreamedTexts(View())
    texts.add("a", "a")
    for text in ("b1 ", "b2"):
        texts.end("b")
        texts.add("b", text)
        texts.end("b")
    texts.end_all()
    assert capsys.readouterr().out == "a\nb1 b2\n"
    assert texts.contain("b2")


def test_a_heading_comes_once_before_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    texts = StreamedTexts(View())
    texts.add("a", "1", heading="notes:")
    texts.add("a", "2", heading="notes:")
    texts.end("a")
    assert capsys.readouterr() == ("12\n", "notes:\n")


def test_streamed_text_is_recognised_by_section_and_as_a_whole() -> None:
    texts = StreamedTexts(View())
    texts.add("a", "one ")
    texts.end("a")
    texts.add("b", "two")
    assert [texts.contain(text) for text in ("one", "two", "one two", "")] == [True] * 4
    assert not texts.contain("three")


def test_data_is_the_same_json_with_and_without_rich(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"a": [1, "é"]}
    View().data(value)
    plain = capsys.readouterr().out
    RichView().data(value)
    assert capsys.readouterr().out == plain


@pytest.mark.parametrize("view", [View(), RichView()])
def test_data_cannot_control_the_terminal_and_is_whole(
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


def test_a_program_on_the_path_is_called_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "aion-adk"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", [str(program)])
    assert program_name() == "aion-adk"


def test_a_program_off_the_path_is_called_as_it_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", [str(tmp_path / ".venv" / "bin" / "aion-adk")])
    assert program_name() == ".venv/bin/aion-adk"
