"""CPU per streamed chunk of each front end, beside plain A2A, in one process."""

import argparse
import asyncio
import itertools
import json
import time
import warnings
from typing import Any

from starlette.types import ASGIApp, Message, Scope

from aion_adk import to_a2a
from benchmarks.agents import Trivial

MOST_OF_PLAIN_A2A = 1.5

_serial = itertools.count()


def requests_for(chunks: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """The path and body that ask each front end for `chunks` chunks."""
    text = f"chunks {chunks} 0"
    number = next(_serial)
    said = {"role": "user", "content": text}
    message = {"messageId": f"m{number}", "role": "ROLE_USER", "parts": [{"text": text}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage"}
    run = {"threadId": f"t{number}", "runId": f"r{number}", "messages": [{"id": "1", **said}]}
    return {
        "A2A": ("/", {**call, "params": {"message": message}}),
        "AG-UI": ("/agui", run),
        "Chat Completions": (
            "/v1/chat/completions",
            {"model": "trivial", "stream": True, "messages": [said]},
        ),
        "Responses": ("/v1/responses", {"model": "trivial", "stream": True, "input": text}),
    }


async def cpu_of(app: ASGIApp, path: str, body: dict[str, Any]) -> float:
    """Seconds of CPU from the request to the end of the answer."""
    over = asyncio.Event()
    asked: list[Message] = [{"type": "http.request", "body": json.dumps(body).encode()}]

    async def receive() -> Message:
        if asked:
            return asked.pop()
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body"):
            over.set()

    begin = time.process_time()
    await app(_scope(path), receive, send)
    return time.process_time() - begin


async def measured(*, chunks: int, rounds: int) -> dict[str, float]:
    """Microseconds a chunk, the best of the rounds, by front end."""
    app = to_a2a(Trivial(name="trivial"), agui=True, openai=True)
    best: dict[str, float] = {}
    async with app.running():
        for _ in range(rounds):
            for name, (path, body) in requests_for(chunks).items():
                microseconds = await cpu_of(app, path, body) / chunks * 1e6
                best[name] = min(microseconds, best.get(name, microseconds))
    return best


def table(figures: dict[str, float]) -> str:
    plain = figures["A2A"]
    rows = [f"{name:18} {cost:8.1f} {cost / plain:8.2f}" for name, cost in figures.items()]
    return "\n".join([f"{'':18} {'us/chunk':>8} {'of A2A':>8}", *rows])


def _scope(path: str) -> Scope:
    headers = {"content-type": "application/json", "a2a-version": "1.0"}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    figures = asyncio.run(measured(chunks=options.chunks, rounds=options.rounds))
    print(table(figures))
    dear = [name for name in figures if figures[name] > MOST_OF_PLAIN_A2A * figures["A2A"]]
    if dear:
        raise SystemExit(f"costs more than {MOST_OF_PLAIN_A2A} times plain A2A: {', '.join(dear)}")


if __name__ == "__main__":
    main()
