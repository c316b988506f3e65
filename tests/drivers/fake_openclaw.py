"""Behaves as the `openclaw` command does; FAKE_MODE decides what it answers."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def turn_of(state: Path, session_id: str) -> int:
    """Counts the turns of a session, as OpenClaw's own transcript would."""
    log = state / f"{session_id}.log"
    with log.open("a") as file:
        file.write("turn\n")
    return len(log.read_text().splitlines())


def session_of(arguments: list[str]) -> str:
    """`agent exec` has no sessions, and only it reads its message from "-"."""
    if arguments == ["agent", "exec", "--json", "--message-file", "-"]:
        return "isolated"
    expected = ["agent", "--local", "--json", "--message-file", "/dev/stdin", "--session-id"]
    assert arguments[:6] == expected, arguments
    return arguments[6]


def wait_for(file: Path) -> None:
    deadline = time.monotonic() + 20
    while not file.exists():
        assert time.monotonic() < deadline, f"{file} did not appear"
        time.sleep(0.01)


def main() -> int:
    arguments = sys.argv[1:]
    session_id = session_of(arguments)
    message = sys.stdin.read()
    state = Path(os.environ["OPENCLAW_STATE_DIR"])
    turn = turn_of(state, session_id)
    mode = os.environ.get("FAKE_MODE", "echo")
    print("[plugins] loaded 3 plugins")
    answer: dict[str, Any]
    match mode:
        case "count":
            answer = {"ok": True, "status": "ok", "payloads": [{"text": str(turn)}]}
        case "fail":
            print("stack trace", file=sys.stderr)
            answer = {"ok": False, "error": {"message": os.environ["FAKE_ERROR"]}}
        case "older":
            answer = {"payloads": [{"text": message, "mediaUrl": None}], "meta": {"durationMs": 1}}
        case "final":
            answer = {"ok": True, "status": "ok", "final": message, "payloads": []}
        case "media":
            urls = ["https://e.test/a.png", "/etc/passwd"]
            payloads = [{"text": "see", "mediaUrl": url} for url in urls]
            answer = {"ok": True, "payloads": payloads}
        case "silent":
            return 1
        case "hang":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            (state / "pids").write_text(f"{os.getpid()} {child.pid}")
            time.sleep(60)
            return 0
        case "overlap":
            marker = state / "running"
            alone = not marker.exists()
            marker.touch()
            wait_for(state / "go")
            marker.unlink()
            answer = {"ok": True, "payloads": [{"text": "alone" if alone else "together"}]}
        case _:
            payloads = [{"text": f"{message}!", "mediaUrl": None}]
            usage = {"input": 1, "output": 1}
            answer = {"ok": True, "payloads": payloads, "usage": usage, "sessionId": session_id}
    print(json.dumps(answer, indent=2))
    return 0 if answer.get("ok", True) else 1


if __name__ == "__main__":
    sys.exit(main())
