from pathlib import Path

import pytest

from aion_adk.cli.transcript import safe_name, save


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("C:\\boot.ini", "boot.ini"),
        ("..", "file.txt"),
        ("", "file.txt"),
        ("dir/", "file.txt"),
        (".bashrc", "bashrc"),
        ("-rf", "rf"),
        ("a\x00b\x1b[31m\n.txt", "a_b_[31m_.txt"),
        ("aux:stream", "aux_stream"),
        ("наш отчёт.txt", "наш отчёт.txt"),
    ],
)
def test_a_name_cannot_lead_anywhere(filename: str, name: str) -> None:
    assert safe_name(filename, media_type="text/plain") == name


def test_a_very_long_name_is_cut_and_keeps_its_suffix() -> None:
    name = safe_name(f"{'x' * 1000}.txt")
    assert len(name) < 200
    assert name.endswith("x.txt")


@pytest.mark.parametrize("filename", [f"{'報' * 200}.txt", f"a.{'é' * 200}"])
def test_a_long_name_of_any_script_can_be_written(tmp_path: Path, filename: str) -> None:
    assert save(b"x", filename, folder=tmp_path).read_bytes() == b"x"


@pytest.mark.parametrize("filename", ["../outside.txt", "/tmp/../outside.txt", "a/b/outside.txt"])
def test_a_file_stays_in_its_folder(tmp_path: Path, filename: str) -> None:
    folder = tmp_path / "in"
    path = save(b"x", filename, folder=folder)
    assert path == folder / "outside.txt"
    assert [p.name for p in tmp_path.iterdir()] == ["in"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    paths = [save(content, "a.txt", folder=tmp_path) for content in (b"1", b"2", b"3")]
    assert [path.name for path in paths] == ["a.txt", "a-1.txt", "a-2.txt"]
    assert [path.read_bytes() for path in paths] == [b"1", b"2", b"3"]


def test_a_link_in_the_folder_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").symlink_to(target)
    assert save(b"x", "a.txt", folder=folder).name == "a-1.txt"
    assert not target.exists()
