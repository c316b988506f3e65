"""How ADK's own A2A client, `RemoteA2aAgent`, is recognised, and what it needs.

It reads the artifacts of a finished task and, if there are any, nothing else. When a task goes
on and its metadata does not name ADK's extension, the client also repeats the last message of
the history, even if that is a question that has been answered.
"""

from a2a.server.agent_execution import RequestContext
from a2a.types import Message, Task

ADK_EXTENSION = "https://google.github.io/adk-docs/a2a/a2a-extension/"

# With a2a-sdk 1.x the client cannot send the extension's header, but it marks its parts.
_USER_INPUT = "is_user_input"


def is_adk_client(context: RequestContext) -> bool:
    if ADK_EXTENSION in context.requested_extensions:
        return True
    if context.current_task and ADK_EXTENSION in context.current_task.metadata.fields:
        return True
    message = context.message or Message()
    return any(_USER_INPUT in part.metadata.fields for part in message.parts)


def mark_for_adk_client(task: Task) -> None:
    """Marks the task as written for ADK's client."""
    task.metadata[ADK_EXTENSION] = True
