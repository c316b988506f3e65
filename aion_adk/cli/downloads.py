"""Keeps files that an agent sends, in one folder and under names that harm nothing."""

import itertools
import mimetypes
import re
from pathlib import Path

_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*]')
# File systems count bytes, 255 at the most; a number may come between the two.
_LONGEST_NAME = 180
_LONGEST_SUFFIX = 40


def safe_name(filename: str, *, media_type: str = "") -> str:
    """The last component of `filename`, without what a shell or a file system might act on."""
    last = filename.replace("\\", "/").rsplit("/", 1)[-1]
    name = _UNSAFE.sub("_", last).strip().lstrip(".-").rstrip(". ")
    path = Path(name or f"file{mimetypes.guess_extension(media_type) or ''}")
    return f"{_cut(path.stem, _LONGEST_NAME)}{_cut(path.suffix, _LONGEST_SUFFIX)}"


def save(content: bytes, filename: str, *, folder: Path, media_type: str = "") -> Path:
    """Writes a new file in `folder`; a number is added to a name that is taken."""
    folder.mkdir(parents=True, exist_ok=True)
    name = Path(safe_name(filename, media_type=media_type))
    for number in itertools.count():
        path = folder / (f"{name.stem}-{number}{name.suffix}" if number else name.name)
        try:
            # Exclusive creation neither overwrites nor follows a link.
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            continue
        return path
    raise AssertionError("count() does not end")


def _cut(text: str, most_bytes: int) -> str:
    return text.encode()[:most_bytes].decode(errors="ignore")
