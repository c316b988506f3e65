"""ADK's own A2A client, `RemoteA2aAgent`: how it is known and what it needs.

It reads the artifacts of a finished task and, if there are any, nothing else. Where the task's
metadata does not name ADK's extension it also repeats the last message of the history when a
task goes on, a question that has been answered included.
"""

from a2a.server.agent_execution import RequestContext
from a2a.types import Message, Task

ADK_EXTENSION = "https://google.github.io/adk-docs/a2a/a2a-extension/"

# The client cannot send the extension's header with a2a-sdk 1.x; it marks its parts with this.
_USER_INPUT = "is_user_input"


def is_adk_client(context: RequestContext) -> bool:
    if ADK_EXTENSION in context.requested_extensions:
        return True
    if context.current_task and ADK_EXTENSION in context.current_task.metadata.fields:
        return True
    message = context.message or Message()
    return any(_USER_INPUT in part.metadata.fields for part in message.parts)


def mark(task: Task) -> None:
    """Says in the task that it is written for ADK's client."""
    task.metadata[ADK_EXTENSION] = True
