"""Whether the sessions of sockets hold: their person exists, and not all sessions of the environment were ended."""

import asyncio
import logging
from collections.abc import Sequence

from clarion.background import BackgroundService, ServiceName
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, SubscriberId
from clarion.inbox.sessions.tokens import SESSION_OVER
from clarion.inbox.sockets.hub import choose_read
from clarion.inbox.sockets.sockets import TRY_LATER, Phase, Socket, SocketIdentity

LIST_EPOCHS = sql("""
    SELECT t.id, e.session_epoch FROM subscribers AS t JOIN environments AS e ON e.id = t.environment_id
    WHERE t.environment_id = :environment_id AND t.id {any:subscriber_ids}
""")

_GATHER_SECONDS = 0.002
_MAX_SOCKETS = 500

log = logging.getLogger(__name__)


class SessionChecks:
    """Sockets whose session is to be checked; those of one environment share a statement."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[EnvironmentId, dict[Socket, SocketIdentity]] = {}
        self._is_needed = asyncio.Event()

    def check(self, socket: Socket, identity: SocketIdentity) -> None:
        self._waiting.setdefault(identity.environment_id, {})[socket] = identity
        self._is_needed.set()

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.SESSION_CHECKS, run_once=self._check_waiting, wake_up=self._is_needed, ends_last=True
        )

    async def _check_waiting(self) -> None:
        await asyncio.sleep(_GATHER_SECONDS)
        while self._waiting:
            # One environment at a time: if a check fails, those of the others still wait.
            environment_id = next(iter(self._waiting))
            sockets = list(self._waiting.pop(environment_id).items())
            for start in range(0, len(sockets), _MAX_SOCKETS):
                await self._check(environment_id, sockets[start : start + _MAX_SOCKETS])

    async def _check(self, environment_id: EnvironmentId, sockets: Sequence[tuple[Socket, SocketIdentity]]) -> None:
        people = list({identity.subscriber_id for _, identity in sockets})

        async def list_epochs(db: Connection) -> dict[SubscriberId, int]:
            rows = await db.fetch(LIST_EPOCHS, environment_id=environment_id, subscriber_ids=people)
            return {SubscriberId(row["id"]): row["session_epoch"] for row in rows}

        try:
            epochs = await choose_read(self._database, len(people))(list_epochs)
        except StoreUnavailable as error:
            log.warning("Sessions not checked", extra={"error": str(error), "count": len(sockets)})
            _send_away(sockets)
            return
        except Exception:
            _send_away(sockets)
            raise
        for socket, identity in sockets:
            _judge(socket, holds=epochs.get(identity.subscriber_id) == identity.epoch)


def _send_away(sockets: Sequence[tuple[Socket, SocketIdentity]]) -> None:
    for socket, _ in sockets:
        if socket.phase is Phase.OPENING:
            socket.close(TRY_LATER, "Try again later")


def _judge(socket: Socket, *, holds: bool) -> None:
    if not holds:
        socket.refuse(SESSION_OVER)
    elif socket.phase is Phase.OPENING:
        socket.confirm()
