"""What every call passes on every transport before it reaches the handler."""

import logging
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import aclosing, contextmanager

from a2a.server.context import ServerCallContext as Call
from a2a.server.events import Event
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.types import (
    AgentCard,
    AgentExtension,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import A2AError, ExtensionSupportRequiredError, InternalError

from aion_adk.errors import internal_error_text
from aion_adk.tasks.handler import BridgeRequestHandler
from aion_adk.tasks.readers import Reader

logger = logging.getLogger(__name__)


class GuardedHandler(RequestHandler):
    """Refuses calls that lack a required extension; hides the text of unexpected errors.

    a2a-sdk's routes send the text of any exception to the caller, and its gRPC service the type
    too, so that the handler behind them must raise `A2AError` only.
    """

    def __init__(
        self, handler: BridgeRequestHandler, *, extensions: Iterable[AgentExtension]
    ) -> None:
        self._bridge = handler
        # a2a-sdk's decorators hide the types of the methods that the bridge's handler inherits.
        self._handler: RequestHandler = handler
        self._required = frozenset(known.uri for known in extensions if known.required)

    async def open_stream(self, params: SendMessageRequest, context: Call) -> Reader:
        with self._guard(context):
            return await self._bridge.open_stream(params, context)

    async def open_subscription(self, params: SubscribeToTaskRequest, context: Call) -> Reader:
        with self._guard(context):
            return await self._bridge.open_subscription(params, context)

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: Call
    ) -> AsyncGenerator[Event, None]:
        with self._guard(context):
            async with aclosing(self._bridge.on_message_send_stream(params, context)) as events:
                async for event in events:
                    yield event

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: Call
    ) -> AsyncGenerator[Event, None]:
        with self._guard(context):
            async with aclosing(self._bridge.on_subscribe_to_task(params, context)) as events:
                async for event in events:
                    yield event

    async def on_message_send(self, params: SendMessageRequest, context: Call) -> Task | Message:
        with self._guard(context):
            return await self._handler.on_message_send(params, context)

    async def on_get_task(self, params: GetTaskRequest, context: Call) -> Task | None:
        with self._guard(context):
            return await self._handler.on_get_task(params, context)

    async def on_list_tasks(self, params: ListTasksRequest, context: Call) -> ListTasksResponse:
        with self._guard(context):
            return await self._handler.on_list_tasks(params, context)

    async def on_cancel_task(self, params: CancelTaskRequest, context: Call) -> Task | None:
        with self._guard(context):
            return await self._handler.on_cancel_task(params, context)

    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: Call
    ) -> TaskPushNotificationConfig:
        with self._guard(context):
            return await self._handler.on_create_task_push_notification_config(params, context)

    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: Call
    ) -> TaskPushNotificationConfig:
        with self._guard(context):
            return await self._handler.on_get_task_push_notification_config(params, context)

    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: Call
    ) -> ListTaskPushNotificationConfigsResponse:
        with self._guard(context):
            return await self._handler.on_list_task_push_notification_configs(params, context)

    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: Call
    ) -> None:
        with self._guard(context):
            await self._handler.on_delete_task_push_notification_config(params, context)

    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: Call
    ) -> AgentCard:
        with self._guard(context):
            return await self._handler.on_get_extended_agent_card(params, context)

    @contextmanager
    def _guard(self, context: Call) -> Generator[None, None, None]:
        if missing := self._required - context.requested_extensions:
            names = ", ".join(sorted(missing))
            raise ExtensionSupportRequiredError(
                f"This agent requires extensions that the request does not activate: {names}"
            )
        try:
            yield
        except A2AError:
            raise
        except Exception as error:
            text = internal_error_text(logger, "request failed", error)
            raise InternalError(text) from None
