"""Tasks, webhooks and sessions in one database."""

from typing import cast

from a2a.server.cluster import VersionedDatabaseTaskStore
from a2a.server.context import ServerCallContext
from a2a.server.owner_resolver import resolve_user_scope
from a2a.server.tasks import DatabasePushNotificationConfigStore, DatabaseTaskStore
from google.adk.sessions.database_session_service import DatabaseSessionService
from sqlalchemy import String, event
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, InvalidRequestError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from aion_adk.errors import LoadError

_ASYNC_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}
_LONGEST_CONTEXT_ID = 512


class Database:
    """One engine for everything that is to outlive the process.

    Several agents may share a database: tasks belong to an owner of one app, as sessions do.
    """

    def __init__(self, url: str, *, app_name: str) -> None:
        def owner_of(context: ServerCallContext) -> str:
            return f"{app_name}/{resolve_user_scope(context)}"

        self._engine = _engine_for(url)
        self.tasks = VersionedDatabaseTaskStore(self._engine, owner_resolver=owner_of)
        self.push_configs = DatabasePushNotificationConfigStore(
            self._engine, owner_resolver=owner_of
        )
        self.sessions = DatabaseSessionService(db_engine=self._engine)
        # A client chooses its context id; a2a-sdk's column has room for a UUID only.
        model = cast(DatabaseTaskStore, self.tasks.as_task_store).task_model
        model.__table__.c.context_id.type = String(_LONGEST_CONTEXT_ID)

    async def open(self) -> None:
        """Creates the tables that are missing, once and before requests compete for it."""
        await self.tasks.initialize()
        await self.push_configs.initialize()
        await self.sessions.prepare_tables()

    async def aclose(self) -> None:
        await self._engine.dispose()


def _engine_for(url: str) -> AsyncEngine:
    try:
        given = make_url(url)
        if given.get_backend_name() not in _ASYNC_DRIVERS:
            raise ArgumentError(given.drivername)
        driver = _ASYNC_DRIVERS.get(given.drivername, given.drivername)
        sqlite = given.get_backend_name() == "sqlite"
        engine = create_async_engine(given.set(drivername=driver), pool_pre_ping=not sqlite)
    except (ArgumentError, InvalidRequestError) as error:
        # The URL may hold a password: only its scheme is repeated.
        scheme = url.split(":", 1)[0]
        raise LoadError(
            "database_url: expected sqlite+aiosqlite:///file or postgresql+asyncpg://…,"
            f" got {scheme}"
        ) from error
    if sqlite:
        event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: DBAPIConnection, _: object) -> None:
    cursor = connection.cursor()
    # Readers and the writer do not wait for each other; writers wait for their turn.
    for pragma in ("foreign_keys=ON", "journal_mode=WAL", "busy_timeout=10000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
