"""Every folder of samples/ runs in adk's terminal."""

import pytest

from tests.samples.running import ANSWERS, NAMES, SAMPLES, run


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_runs_under_adk_run(name: str) -> None:
    """B3, B4"""
    lines = "hello\n" + "exit\n" * 4
    done = run("google.adk.cli", "run", "--in_memory", str(SAMPLES / name), text=lines)
    assert done.returncode == 0
    assert ANSWERS[name] in done.stdout.partition("[user]: ")[2]
