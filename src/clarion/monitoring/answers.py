"""What a process answers those who watch it: /live, /ready and /metrics, on either port."""

import hmac
from collections.abc import Awaitable, Mapping

from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from clarion.clock import Clock
from clarion.db.port import Database
from clarion.http.responses import send_response
from clarion.http.static import protect
from clarion.jsontext import encode_json
from clarion.monitoring.families import ProcessState, render_metrics
from clarion.monitoring.health import Readiness
from clarion.monitoring.metrics import MeasuredDatabase, Measures
from clarion.monitoring.store_state import StoreWatch
from clarion.secret import Secret

_PATHS = frozenset({"/live", "/ready", "/metrics"})
_JSON = b"application/json"
_TEXT = b"text/plain; version=0.0.4; charset=utf-8"
_METHODS = ("GET", "HEAD")


class Answer(Struct, frozen=True):
    status: int
    content_type: bytes
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ((b"cache-control", b"no-store"),)


class Answers:
    """Answers from the state of this process."""

    def __init__(
        self, database: Database, clock: Clock, measures: Measures, health: Readiness, token: Secret | None
    ) -> None:
        self._database = database if isinstance(database, MeasuredDatabase) else None
        self._clock = clock
        self._measures = measures
        self._store = StoreWatch(database, clock)
        self._token = token
        self.health = health
        self.kind = "serve"
        """The command that the process runs."""

    async def answer(self, path: str, headers: Mapping[bytes, bytes], *, is_public: bool) -> Answer | None:
        """The answer for a path; None if there is none.

        On a public port there are metrics only if there is a token, which the caller has to send.
        """
        match path:
            case "/live":
                return Answer(200, _JSON, encode_json({"status": "alive"}))
            case "/ready":
                problems = await self.health.list_problems()
                body = {"status": "not ready", "reasons": problems} if problems else {"status": "ready"}
                failing = self.health.background.list_failing()
                told = body | {"failing": failing} if failing else body
                return Answer(503 if problems else 200, _JSON, encode_json(told))
            case "/metrics" if self._token is not None or not is_public:
                if self._token is not None and not _is_allowed(self._token, headers):
                    text = "Send the token of CLARION_METRICS_TOKEN as Authorization: Bearer <token>"
                    challenge = ((b"www-authenticate", b"Bearer"),)
                    return Answer(401, _JSON, encode_json({"statusCode": 401, "message": text}), challenge)
                return Answer(200, _TEXT, await self._render())
            case _:
                return None

    async def _render(self) -> bytes:
        state = ProcessState(
            kind=self.kind,
            now=self._clock.now(),
            measures=self._measures,
            database=self._database,
            watchdog=self.health.watchdog,
            background=self.health.background,
            is_ready=not await self.health.list_problems(),
            store=await self._store.find(),
        )
        return render_metrics(state)


def add_answers(inner: ASGIApp, answers: Answers) -> ASGIApp:
    """Answer on the port of the API as well; such requests are neither logged nor counted."""

    # Not a coroutine of its own, which every request would pay for.
    def serve(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return answer(scope, receive, send) if scope["path"] in _PATHS else inner(scope, receive, send)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        answered = None
        if scope["method"] in _METHODS:
            answered = await answers.answer(scope["path"], dict(scope["headers"]), is_public=True)
        if answered is None:
            await inner(scope, receive, send)
        else:
            await _send(answered, send, with_body=scope["method"] == "GET")

    return serve


async def _send(answer: Answer, send: Send, *, with_body: bool) -> None:
    headers = [
        (b"content-type", answer.content_type),
        (b"content-length", str(len(answer.body)).encode()),
        *protect(answer.headers),
    ]
    await send_response(send, answer.status, headers, answer.body if with_body else b"")


def _is_allowed(token: Secret, headers: Mapping[bytes, bytes]) -> bool:
    scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
    return scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), token.reveal().encode())
