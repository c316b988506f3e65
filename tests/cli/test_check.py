import json
from pathlib import Path

from click.testing import CliRunner

from aion_adk.cli import main
from tests.cli.agent_folders import AGENT, write

ANSWERING = """
from google.adk.agents import BaseAgent
from google.adk.events import Event

class Answering(BaseAgent):
    async def _run_async_impl(self, ctx):
        if ctx.user_content.parts[0].text == "break":
            raise ValueError("a secret")
        yield Event(author=self.name, invocation_id=ctx.invocation_id,
                    content={{"role": "model", "parts": [{{"text": "I\\'m fine."}}]}})

root_agent = Answering(name="{name}", description="Answers.")
"""


def test_a_good_agent_passes(tmp_path: Path) -> None:
    folder = write(tmp_path, "check_good", ANSWERING)
    result = CliRunner().invoke(main, ["check", str(folder)])
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "check_good",
        "  ✓ loads",
        "  ✓ has a card with 1 skill",
        "  ✓ a turn ends completed: I'm fine.",
    ]


def test_a_turn_that_fails_is_found(tmp_path: Path) -> None:
    folder = write(tmp_path, "check_bad", ANSWERING)
    result = CliRunner().invoke(main, ["check", str(folder), "--message", "break"])
    assert result.exit_code == 1
    assert "✗ a turn ends failed" in result.stderr


def test_the_turn_can_be_left_out(tmp_path: Path) -> None:
    folder = write(tmp_path, "check_unasked", AGENT)
    result = CliRunner().invoke(main, ["check", str(folder), "--no-turn"])
    assert (result.exit_code, "turn" in result.output) == (0, False)


def test_an_agent_that_does_not_load_is_found(tmp_path: Path) -> None:
    folder = write(tmp_path, "check_broken", "import no_such_module_at_all")
    result = CliRunner().invoke(main, ["check", str(folder)])
    assert result.exit_code == 1
    assert "✗ cannot load check_broken" in result.stderr
    assert "No module named 'no_such_module_at_all'" in result.stderr


def test_an_agent_that_cannot_be_served_is_found_and_the_others_are_checked(tmp_path: Path) -> None:
    options = 'import aion_adk\na2a_options = aion_adk.ServerOptions(database_url="nosuch://db")'
    write(tmp_path, "check_unservable", f"{AGENT}\n{options}")
    write(tmp_path, "check_well", AGENT)
    result = CliRunner().invoke(main, ["check", str(tmp_path), "--no-turn"])
    assert result.exit_code == 1
    assert "  ✗ database_url: expected sqlite" in result.stderr
    assert "check_well\n  ✓ loads\n  ✓ has a card" in result.stdout


def test_the_card_of_an_agent_is_printed_as_it_is_served(tmp_path: Path) -> None:
    folder = write(tmp_path, "card_one", ANSWERING)
    result = CliRunner().invoke(main, ["card", str(folder), "--public-url", "https://a.example"])
    card = json.loads(result.stdout)
    assert (card["name"], card["description"]) == ("card_one", "Answers.")
    assert card["supportedInterfaces"][0]["url"] == "https://a.example/"


def test_the_cards_of_several_agents_are_printed_by_name(tmp_path: Path) -> None:
    for name in ("card_a", "card_b"):
        write(tmp_path, name, ANSWERING)
    result = CliRunner().invoke(main, ["card", str(tmp_path)])
    assert list(json.loads(result.stdout)) == ["card_a", "card_b"]
