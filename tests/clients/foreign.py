"""Clients that do not run in this environment."""

import asyncio
import warnings
from pathlib import Path
from typing import NoReturn

import pytest

SECONDS = 200


async def output_of(*command: str | Path, cwd: Path) -> str:
    """What a program prints; a RuntimeError with what it complained about if it fails."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        out, complaint = await asyncio.wait_for(process.communicate(), SECONDS)
    except TimeoutError:
        process.kill()
        raise RuntimeError(f"{command[0]} took longer than {SECONDS} s") from None
    if process.returncode:
        raise RuntimeError(f"{command[0]} failed: {complaint.decode()[-2000:]}")
    return out.decode()


def skip_loudly(client: str, reason: str) -> NoReturn:
    warnings.warn(f"{client} is NOT tested: {reason}", stacklevel=2)
    pytest.skip(reason)
