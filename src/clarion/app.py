"""Composition root: builds the database, the services, the routes and the application from the settings."""

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from msgspec import Struct
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from clarion import operations
from clarion.background import BackgroundService, ServiceName, Supervisor
from clarion.bus import Bus, Signal
from clarion.clock import SECOND, Clock
from clarion.content.known_secrets import LinkSecrets
from clarion.db.clock import StoreClock
from clarion.db.migrations.revisions import SchemaWatch
from clarion.db.open import migrate_store, open_store, require_current_store
from clarion.db.port import Database
from clarion.db.postgres.database import PostgresDatabase
from clarion.engine.worker import Engine
from clarion.environments.actions import make_limits_reader
from clarion.environments.authentication import Authenticator
from clarion.environments.bootstrap import FirstKeys, prepare_store
from clarion.environments.deletion import EnvironmentDeleter
from clarion.http.authorization import Authenticators
from clarion.http.description.openapi import describe_api
from clarion.http.description.reference import REFERENCE_POLICY, render_reference
from clarion.http.origins import INBOX_PATHS
from clarion.http.server.proxies import TrustedProxies, trust_proxies
from clarion.http.service import Service
from clarion.http.services import Services
from clarion.http.static import Page, SlowPage, StaticPage, compressed_page
from clarion.inbox.gathered import GatheredReads
from clarion.inbox.sessions.tokens import SessionTokens
from clarion.inbox.snoozes import Waker
from clarion.inbox.sockets.service import Realtime
from clarion.integrations.callbacks import make_receipts_url_finder
from clarion.limits.headers import HEADER_NAMES
from clarion.limits.limiter import RateLimiter
from clarion.members.links.mailing import TeamMail
from clarion.members.services import share_member_services
from clarion.members.sessions.authentication import SessionAuthenticator
from clarion.monitoring.answers import add_answers
from clarion.monitoring.metrics import Gauge
from clarion.monitoring.monitor import Monitor
from clarion.monitoring.store_state import EnvironmentWatch
from clarion.monitoring.traces.tracer import Tracer, open_tracer
from clarion.monitoring.watchdog import LoopWatchdog
from clarion.providers.builtin import BuiltinNames
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.receipts.early import record_early_reports
from clarion.receipts.polling import poll_receipts
from clarion.replies.actions import ReplyLimit
from clarion.retention.worker import Retention
from clarion.schedules.firing import ScheduleService
from clarion.settings.model import Settings
from clarion.subscribers.addresses.telegram.actions import StartLimit
from clarion.subscribers.personal_data.erasure import continue_erasures
from clarion.tracking.recorder import TrackingRecorder
from clarion.vault import Vault, has_keys, open_configured_vault
from clarion.web.dashboard import make_dashboard
from clarion.web.files import demo_pages, inbox_pages
from clarion.workflows.email_tests import EmailTestThrottle
from clarion.workflows.request_tests import RequestTestThrottle

_MAINTENANCE_SECONDS = 15
_STATISTICS_SECONDS = 1
_STATISTICS_COMMITS = 30
"""A worker that only looks for work takes seconds for as many."""
_ANNOUNCE_SECONDS = 0.01

OPERATIONS = operations.OPERATIONS


class Application(Struct, frozen=True, kw_only=True):
    """A running installation: the ASGI application and the background tasks."""

    settings: Settings
    database: Database
    services: Services
    authenticator: Authenticator
    member_sessions: SessionAuthenticator
    asgi: ASGIApp
    vault: Vault
    store_clock: StoreClock | None
    """None if the clock was given."""
    realtime: Realtime
    retention: Retention
    first_keys: FirstKeys | None
    watchdog: LoopWatchdog
    background: Supervisor
    monitor: Monitor

    async def list_services(self, kind: str) -> list[BackgroundService]:
        """The background work of a process of this kind, except for that of its connections."""
        services = [
            *self.monitor.list_services(kind),
            *self._list_maintenance(),
            SchemaWatch(self.database).make_service(),
            *self.realtime.list_services(),
            self.services.shared.get(TrackingRecorder).make_service(),
        ]
        if kind != "worker":
            services.append(self.services.shared.get(TeamMail).make_service())
        if kind == "api":
            return [*services, self.announce_work()]
        return [*services, *await self._list_work()]

    async def _list_work(self) -> list[BackgroundService]:
        clock, bus = self.services.clock, self.services.bus
        engine = Engine(
            self.database,
            clock=clock,
            vault=self.vault,
            bus=bus,
            gateway=self.services.gateway,
            receipts_url=make_receipts_url_finder(self.settings.public_url, self.vault),
            public_url=self.settings.public_url,
            tracer=self.services.tracer,
            measures=self.services.measures,
        )
        waker = Waker(self.database, clock=clock, bus=bus)
        schedules = ScheduleService(self.database, clock=clock, bus=bus, measures=self.services.measures)
        for wake in (engine.wake, waker.wake, schedules.wake):
            await self.database.listen_for_work(wake)
        return [
            *engine.list_services(self.settings.shutdown_grace_seconds),
            self.announce_work(unless=lambda: engine.membership.is_alone),
            waker.make_service(),
            schedules.make_service(),
            self.retention.make_service(),
            EnvironmentDeleter(self.database, clock=clock).make_service(),
        ]

    def announce_work(self, *, unless: Callable[[], bool] = lambda: False) -> BackgroundService:
        """Notifies the workers of other processes when there is work, at most once per interval."""
        has_work = asyncio.Event()
        self.services.bus.listen(Signal.WORK, has_work.set)

        async def announce() -> None:
            if not unless():
                await self.database.notify_workers()

        return BackgroundService(
            name=ServiceName.WORK_ANNOUNCEMENTS,
            run_once=announce,
            wake_up=has_work,
            settle_seconds=_ANNOUNCE_SECONDS,
            is_due_at_start=False,
        )

    def _list_maintenance(self) -> list[BackgroundService]:
        """What every process does now and then."""
        database, clock, vault, tracer = self.database, self.services.clock, self.vault, self.services.tracer
        gateway = self.services.gateway
        each: dict[ServiceName, Callable[[], Awaitable[None]]] = {
            ServiceName.KEY_USE: self.record_use,
            ServiceName.ERASURES: lambda: continue_erasures(database, clock),
            ServiceName.EARLY_RECEIPTS: lambda: record_early_reports(database, vault, clock.now(), tracer=tracer),
            ServiceName.RECEIPT_POLLING: lambda: poll_receipts(database, gateway, vault, clock.now(), tracer=tracer),
            ServiceName.STATISTICS: lambda: database.update_statistics(min_commits=_STATISTICS_COMMITS),
        }
        services = [
            BackgroundService(
                name=name,
                run_once=work,
                interval=_STATISTICS_SECONDS if name is ServiceName.STATISTICS else _MAINTENANCE_SECONDS,
                is_due_at_start=False,
            )
            for name, work in each.items()
        ]
        return services if self.store_clock is None else [*services, self.store_clock.make_service()]

    async def record_use(self) -> None:
        """Write when API keys and sessions of members were used last."""
        await self.authenticator.record_use()
        await self.member_sessions.record_use()


@asynccontextmanager
async def open_application(
    settings: Settings, *, migrate: bool = False, makes_keys: bool = False, clock: Clock | None = None
) -> AsyncIterator[Application]:
    """Open everything that the settings describe; on exit, write what is buffered and close the store.

    The first process that `makes_keys`, because it shows them, generates the first API keys.
    """
    tracer = open_tracer(settings)
    if has_keys(settings):
        open_configured_vault(settings)  # keys that are not valid are refused before a store is made
    if migrate:
        await migrate_store(settings)
    else:
        await require_current_store(settings)
    database = await open_store(settings)
    try:
        store_clock = None
        if clock is None:
            store_clock = await StoreClock.open(database)
            clock = store_clock.clock
        prepared = await prepare_store(database, settings, clock, makes_keys=makes_keys)
        async with ProviderGateway(EgressGuard(settings.egress_allow), clock=clock) as gateway:
            application = build_application(
                settings,
                database,
                prepared.vault,
                gateway,
                clock=clock,
                store_clock=store_clock,
                first_keys=prepared.first_keys,
                tracer=tracer,
            )
            yield application
        await application.realtime.close()
        await application.record_use()
    finally:
        if tracer is not None:
            await tracer.close()
        await database.close()


def build_application(  # noqa: PLR0913 - what it is composed of
    settings: Settings,
    database: Database,
    vault: Vault,
    gateway: ProviderGateway,
    *,
    clock: Clock,
    store_clock: StoreClock | None = None,
    first_keys: FirstKeys | None = None,
    tracer: Tracer | None = None,
) -> Application:
    """Build the application on a store that is migrated and set up; `store_clock` keeps `clock` with the store's."""
    bus = Bus()
    services = Services(
        settings=settings,
        clock=clock,
        vault=vault,
        names=BuiltinNames(settings.builtin_name),
        bus=bus,
        gateway=gateway,
        tracer=tracer,
        limiter=RateLimiter(
            database, clock, bus, make_limits_reader(dict(settings.rate_limits), settings.limit_ceilings)
        ),
    )
    watchdog, background = LoopWatchdog(), Supervisor()
    if isinstance(database, PostgresDatabase):
        background.show_also(database.background)
    monitor = Monitor(
        settings,
        database,
        services,
        watchdog=watchdog,
        background=background,
        machine=store_clock.machine if store_clock else clock,
    )
    if store_clock is not None:
        services.measures.watch(Gauge.CLOCK_OFFSET, lambda: store_clock.machine_offset / SECOND)
    authenticator = Authenticator(database, clock, bus)
    member_sessions = SessionAuthenticator(database, clock, bus)
    share_member_services(services, database)
    services.shared.put(EnvironmentWatch, EnvironmentWatch(database, clock))
    services.shared.put(ReplyLimit, ReplyLimit())
    services.shared.put(StartLimit, StartLimit())
    services.shared.put(LinkSecrets, LinkSecrets(database, vault))
    services.shared.put(TrackingRecorder, TrackingRecorder(database, services.measures))
    services.shared.put(GatheredReads, GatheredReads(database))
    services.shared.put(EmailTestThrottle, EmailTestThrottle())
    services.shared.put(RequestTestThrottle, RequestTestThrottle())
    tokens = SessionTokens(vault, clock)
    pages: dict[str, Page] = {
        "/openapi.json": SlowPage(_openapi_page),
        "/docs": SlowPage(_reference_page),
        **inbox_pages(),
    }
    service = Service(
        [*OPERATIONS, *operations.DEMO_OPERATIONS] if settings.serves_demo else OPERATIONS,
        database=database,
        services=services,
        authenticators=Authenticators(key=authenticator, session=tokens.authenticate, member=member_sessions),
        pages=pages | demo_pages() if settings.serves_demo else pages,
        find_page=make_dashboard(),
    )
    realtime = Realtime(settings, database, bus=bus, clock=clock, tokens=tokens)
    services.measures.watch(Gauge.SOCKETS, lambda: len(realtime.table))
    return Application(
        settings=settings,
        database=database,
        services=services,
        authenticator=authenticator,
        member_sessions=member_sessions,
        asgi=trust_proxies(
            add_answers(_add_cors(service, settings), monitor.answers), TrustedProxies(settings.trusted_proxies)
        ),
        vault=vault,
        store_clock=store_clock,
        realtime=realtime,
        retention=Retention(database, settings=settings, clock=clock, bus=bus),
        first_keys=first_keys,
        watchdog=watchdog,
        background=background,
        monitor=monitor,
    )


def _add_cors(service: Service, settings: Settings) -> ASGIApp:
    if not settings.cors_origins:
        return service
    others = CORSMiddleware(
        service,
        allow_origins=list(settings.cors_origins),
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=["*"],
        expose_headers=["X-Request-Id", "Idempotency-Replay", "Retry-After", *HEADER_NAMES],
        max_age=86_400,
    )

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        # The inbox has rules of its own, which the service applies.
        is_inbox = scope["type"] == "http" and scope["path"].encode().startswith(INBOX_PATHS)
        await (service if is_inbox else others)(scope, receive, send)

    return choose


@functools.cache
def _openapi_page() -> StaticPage:
    return compressed_page(b"application/json", describe_api(OPERATIONS))


@functools.cache
def _reference_page() -> StaticPage:
    headers = ((b"content-security-policy", REFERENCE_POLICY),)
    return compressed_page(b"text/html; charset=utf-8", render_reference(_openapi_page().body), headers)
