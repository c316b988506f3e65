"""The commands and their options.

A command imports what it needs when it is called: google-adk and a2a-sdk take seconds to load,
and `--help` must not wait for them.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import click
from annotated_types import Ge, Gt

from aion_adk.cli.settings import SETTINGS, read_settings
from aion_adk.errors import LoadError

_TARGET = """PATH is an agent's folder, a folder of agents, a python file, module:attribute, or a
YAML file that describes an agent; in python, agents are found where adk finds them: `app`, then
`root_agent`."""


def _from_settings(context: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
    """Makes the `server` fields of the file the defaults of this command."""
    if path is None:
        return None
    try:
        context.default_map, _agent = read_settings(path)
    except LoadError as error:
        raise click.ClickException(str(error)) from error
    return path


def _setting_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds an option for each of the settings."""
    for name, setting in reversed(SETTINGS.items()):
        add = click.option(
            f"--{name.replace('_', '-')}",
            name,
            type=_click_type(setting.type),
            is_flag=setting.type is bool,
            default=False if setting.type is bool else setting.default,
            show_default=setting.default is not None,
            metavar=setting.metavar,
            help=setting.help,
        )
        command = add(command)
    return command


def _click_type(kind: Any) -> Any:
    if get_origin(kind) is not Annotated:
        return kind
    number, *limits = get_args(kind)
    bounds: dict[str, Any] = {}
    for limit in limits:
        match limit:
            case Ge():
                bounds |= {"min": limit.ge}
            case Gt():
                bounds |= {"min": limit.gt, "min_open": True}
            case _:
                bounds |= {"max": limit.le}
    return click.IntRange(**bounds) if number is int else click.FloatRange(**bounds)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="aion-adk", prog_name="aion-adk")
def main() -> None:
    """Serve Google ADK agents over A2A, and talk to A2A agents."""


@main.command(
    "serve", help=f"Serve an agent, or a folder of agents each under /a2a/NAME.\n\n{_TARGET}"
)
@click.argument("path", required=False)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    is_eager=True,
    callback=_from_settings,
    help="A YAML file with an agent and its `server` options, in place of PATH.",
)
@_setting_options
def serve_command(path: str | None, config: Path | None, **settings: Any) -> None:
    if (path is None) == (config is None):
        raise click.UsageError("expected either PATH or --config FILE")
    from aion_adk.cli.serve import serve_agents

    host, port = settings.pop("host"), settings.pop("port")
    serve_agents(path or str(config), host=host, port=port, options={"grpc_host": host, **settings})


@main.command(help=f"Print the agent card, or the cards by name.\n\n{_TARGET}")
@click.argument("path")
@click.option("--public-url", metavar="URL", help="Address that clients use.")
def card(path: str, public_url: str | None) -> None:
    from aion_adk.cli.serve import print_card

    print_card(path, public_url=public_url)


@main.command(help=f"Does it load, does its card build, does one turn work?\n\n{_TARGET}")
@click.argument("path")
@click.option("--message", default="Hello", show_default=True, help="The message to send.")
@click.option("--turn/--no-turn", default=True, help="Leave out the turn: no model is called.")
def check(path: str, message: str, turn: bool) -> None:
    from aion_adk.cli.check import check_agents

    sys.exit(check_agents(path, message=message if turn else None))


@main.command(
    epilog="Exit codes: 0 completed, 1 failed, rejected or canceled, 2 wrong usage,"
    " 3 waits for your answer, 4 no answer from the server."
)
@click.argument("url")
@click.argument("text", required=False)
@click.option(
    "--file",
    "files",
    metavar="F",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Attach a file; can be given again.",
)
@click.option("--data", metavar="JSON", help="Attach JSON data.")
@click.option("--stream/--no-stream", default=True, help="Show the answer as it comes.")
@click.option("--context", metavar="ID", help="Continue a conversation.")
@click.option("--task", metavar="ID", help="Answer a task that waits for input.")
@click.option("--header", "headers", metavar="NAME:VALUE", multiple=True, help="Send a header.")
@click.option(
    "--save-to",
    metavar="DIR",
    default=".",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to save files that the agent sends; nothing is overwritten. Default: here.",
)
@click.option("--json", "as_json", is_flag=True, help="Print each frame as a line of JSON.")
def send(
    url: str,
    text: str | None,
    files: tuple[Path, ...],
    data: str | None,
    stream: bool,
    context: str | None,
    task: str | None,
    headers: tuple[str, ...],
    save_to: Path,
    as_json: bool,
) -> None:
    """Send TEXT to the agent at URL and show its answer. TEXT can be - for standard input."""
    if text is None and not files and data is None:
        raise click.UsageError("nothing to send: give TEXT, --file or --data")
    if not url.startswith(("http://", "https://")):
        raise click.BadParameter("must begin with http:// or https://", param_hint="URL")
    from aion_adk.cli.send import message_of, send_message

    text = sys.stdin.read() if text == "-" else text
    try:
        message = message_of(
            text, files=files, data=data, context_id=context or "", task_id=task or ""
        )
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint="--data") from error
    code = send_message(
        url,
        message,
        stream=stream,
        headers=dict(map(_header, headers)),
        save_to=save_to,
        as_json=as_json,
    )
    sys.exit(code)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise click.BadParameter(f"expected NAME:VALUE, got {text!r}", param_hint="--header")
    return name.strip(), value.strip()
