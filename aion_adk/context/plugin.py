"""The ADK plugin that puts the inbox on every context and takes the outbox off every event."""

from collections.abc import Sequence
from typing import Any

from a2a.types import Message, Role, Task, TaskState, TaskStatus
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from aion_adk.context.inbox import INBOX_ATTRIBUTE, A2AInbox
from aion_adk.context.outbox import OUTBOX_KEY, A2AOutbox, to_outbox
from aion_adk.context.turn import TURN_ATTRIBUTE, Turn, current_turn, turn_of
from aion_adk.protocol.from_genai import genai_parts, reply_parts
from aion_adk.protocol.to_genai import to_genai_part

_HELD_ATTRIBUTE = "a2a_held_outbox"


class A2ABridgePlugin(BasePlugin):
    """Makes `ctx.a2a_inbox` and `a2a_outbox` work, under a server and under the adk commands.

    A second instance in the same run changes nothing.
    """

    def __init__(self, name: str = "a2a_bridge") -> None:
        super().__init__(name=name)

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> None:
        _add_inbox(invocation_context)

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        _add_inbox(invocation_context)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        turn = turn_of(callback_context)
        # An agent that runs as a tool has a session of its own, where no pause can be resumed.
        if turn and turn.client and callback_context.session.id == turn.session_id:
            turn.client.extend(llm_request)

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Event | None:
        # The event is changed in place: ADK skips the plugins after one that returns an event.
        turn: Turn | None = getattr(invocation_context, TURN_ATTRIBUTE, None)
        outbox = _take_outbox(event)
        if turn and outbox:
            turn.outbox = outbox
        elif not turn:
            _show_outbox(invocation_context, outbox, event)
        return None


def with_bridge(plugins: Sequence[BasePlugin]) -> list[BasePlugin]:
    """The plugins, the bridge's first: ADK skips the plugins after one that returns something."""
    bridge = next((p for p in plugins if isinstance(p, A2ABridgePlugin)), A2ABridgePlugin())
    return [bridge, *(plugin for plugin in plugins if plugin is not bridge)]


def _add_inbox(ctx: InvocationContext) -> None:
    turn = current_turn.get()
    if turn:
        turn.invocation_ids.add(ctx.invocation_id)
    _set_attribute(ctx, INBOX_ATTRIBUTE, turn.inbox if turn else _inbox_from_session(ctx))
    _set_attribute(ctx, TURN_ATTRIBUTE, turn)


def _set_attribute(ctx: InvocationContext, name: str, value: object) -> None:
    # InvocationContext forbids extra fields; model_copy hands an attribute that was set past
    # pydantic on to sub-agents, branches, nodes and tools.
    object.__setattr__(ctx, name, value)


def _take_outbox(event: Event) -> A2AOutbox | None:
    """The outbox that the event's state delta holds; it is removed from there."""
    delta: dict[str, Any] = event.actions.state_delta
    if OUTBOX_KEY not in delta:
        return None
    rest = {key: value for key, value in delta.items() if key != OUTBOX_KEY}
    event.actions = event.actions.model_copy(update={"state_delta": rest})
    value = delta[OUTBOX_KEY]
    # A copy: the agent may go on to use the object it wrote.
    return None if value is None else to_outbox(value).model_copy(deep=True)


def _show_outbox(ctx: InvocationContext, outbox: A2AOutbox | None, event: Event) -> None:
    """Makes an outbox the event's content where no A2A server is there to send it."""
    outbox = outbox or getattr(ctx, _HELD_ATTRIBUTE, None)
    if outbox is None:
        return
    calls = [p for p in genai_parts(event.content) if p.function_call or p.function_response]
    if event.partial or (calls and not event.is_final_response()):
        # Text beside a function response would reach the model: wait for its answer.
        _set_attribute(ctx, _HELD_ATTRIBUTE, outbox)
        return
    _set_attribute(ctx, _HELD_ATTRIBUTE, None)
    if outbox.task is None:
        message = outbox.message or Message()
    elif outbox.task.status.HasField("message"):
        message = outbox.task.status.message
    else:
        message = outbox.task.history[-1] if outbox.task.history else Message()
    shown = [part for part in map(to_genai_part, message.parts) if part]
    if calls or shown:
        event.content = types.Content(role="model", parts=calls + shown)


def _inbox_from_session(ctx: InvocationContext) -> A2AInbox:
    message = Message(
        message_id=ctx.invocation_id,
        context_id=ctx.session.id,
        task_id=ctx.invocation_id,
        role=Role.ROLE_USER,
        parts=reply_parts(ctx.user_content),
    )
    task = Task(
        id=ctx.invocation_id,
        context_id=ctx.session.id,
        status=TaskStatus(state=TaskState.TASK_STATE_WORKING),
        history=[message],
    )
    return A2AInbox(
        task=task, message=message, metadata={}, headers={}, user_id=ctx.user_id, origin="adk"
    )
