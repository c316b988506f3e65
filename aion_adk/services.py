"""Where a served agent keeps tasks, conversations and webhooks."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from a2a.server.cluster import VersionedTaskStore
from a2a.server.tasks import PushNotificationConfigStore, TaskStore
from google.adk.sessions import BaseSessionService, InMemorySessionService

from aion_adk.errors import LoadError
from aion_adk.options import ServerOptions
from aion_adk.push import MemoryPushConfigs, PushDelivery
from aion_adk.store import MemoryTaskStore

if TYPE_CHECKING:
    from aion_adk.database import Database


@dataclass(frozen=True, kw_only=True)
class Services:
    """`durable` if tasks are kept in the server's own database, which outlives it."""

    tasks: TaskStore | VersionedTaskStore
    sessions: BaseSessionService
    push: PushDelivery | None
    durable: bool
    open: Callable[[], Awaitable[None]]
    aclose: Callable[[], Awaitable[None]]


def services_for(options: ServerOptions, *, app_name: str) -> Services:
    """The services that are given; the others in the database if there is one, else in memory."""
    if options.database_url is None:
        return Services(
            tasks=options.task_store or MemoryTaskStore(),
            sessions=options.session_service or InMemorySessionService(),
            push=push_for(options, MemoryPushConfigs()),
            durable=False,
            open=_nothing,
            aclose=_nothing,
        )
    database = database_at(options.database_url, app_name=app_name)
    return Services(
        tasks=options.task_store or database.tasks,
        sessions=options.session_service or database.sessions,
        push=push_for(options, database.push_configs),
        durable=options.task_store is None,
        open=database.open,
        aclose=database.aclose,
    )


def push_for(options: ServerOptions, configs: PushNotificationConfigStore) -> PushDelivery | None:
    if not options.push_notifications:
        return None
    return PushDelivery(configs, private_urls=options.push_private_urls)


def database_at(url: str, *, app_name: str) -> "Database":
    scheme = url.split(":", 1)[0]
    extra = "sqlite" if scheme.startswith("sqlite") else "postgresql"
    try:
        from aion_adk.database import Database

        return Database(url, app_name=app_name)
    except ImportError as error:
        raise LoadError(f"database_url {scheme}: install aion-adk[{extra}]") from error


async def _nothing() -> None:
    pass
