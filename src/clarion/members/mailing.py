"""Mails to members: invitations and links for new passwords, through the email integrations of the organization.

They are sent in the background: a request for a new password must take as long for those who are members as for others.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

from clarion.audit.model import SERVICE, Action, Author
from clarion.clock import MINUTE, Clock, Millis, iso_text
from clarion.db.port import Connection, Database
from clarion.environments.store import find_organization, list_environments
from clarion.errors import StoreUnavailable
from clarion.ids import OrganizationId, id_text, new_id
from clarion.integrations.model import Integration, failover_key
from clarion.integrations.store import list_integrations, list_providers
from clarion.members import store
from clarion.members.actions import NewLink, create_reset_link
from clarion.members.addresses import MemberAddress
from clarion.members.auditing import record_member_event
from clarion.members.links import link_url
from clarion.members.model import Link, Member
from clarion.providers.definition.kinds import BuiltinProvider
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import SendFailure
from clarion.providers.registry import find_provider
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings import Settings
from clarion.vault import Vault
from clarion.vocabulary import Channel

MAX_WAITING = 1_000
RESET_EVERY = Millis(MINUTE)
"""A member gets no more than one mail in this time, however often somebody asks for it."""

log = logging.getLogger(__name__)


class Invitation(Struct, frozen=True):
    """An invitation to mail."""

    link: Link
    url: str
    inviter: Member | None


class ResetRequest(Struct, frozen=True):
    """Somebody asked for a new password of an address, which may be that of no member."""

    email: MemberAddress
    request_id: str | None


class _Mail(Struct, frozen=True):
    organization_id: OrganizationId
    to: str
    subject: str
    text: str


class TeamMail:
    """Sends mails to members, one after the other."""

    def __init__(
        self, database: Database, gateway: ProviderGateway, *, settings: Settings, vault: Vault, clock: Clock
    ) -> None:
        self._database = database
        self._gateway = gateway
        self._settings = settings
        self._vault = vault
        self._clock = clock
        self._waiting: deque[Invitation | ResetRequest] = deque()
        self._has_work = asyncio.Event()

    async def has_integration(self, db: Connection, organization_id: OrganizationId) -> bool:
        """Return whether mails to members of an organization can be sent."""
        return bool(await self._list_integrations(db, organization_id))

    async def has_any_integration(self, db: Connection) -> bool:
        """Return whether mails to members of some organization can be sent, for those whose organization is unknown."""
        return not all(map(_is_built_in, await list_providers(db, Channel.EMAIL)))

    def post(self, one: Invitation | ResetRequest) -> None:
        """Send this soon; if too many wait, it is left out, because the link can be made again."""
        if len(self._waiting) >= MAX_WAITING:
            log.warning("Mail to a member left out: too many wait")
            return
        self._waiting.append(one)
        self._has_work.set()

    async def run(self) -> None:
        """Send what is posted, until cancelled; what waits then is still sent."""
        try:
            while True:
                await self._has_work.wait()
                self._has_work.clear()
                await self.send_waiting()
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.shutdown_grace_seconds):
                    await self.send_waiting()

    async def send_waiting(self) -> None:
        """Send everything that was posted."""
        while self._waiting:
            try:
                await self._send(self._waiting[0])
            except StoreUnavailable as error:
                log.warning("Mail to a member lost", extra={"error": str(error)})
            except Exception:
                # An unexpected error must not keep later mails from being sent.
                log.exception("Mail to a member failed")
            self._waiting.popleft()

    async def _send(self, one: Invitation | ResetRequest) -> None:
        if isinstance(one, Invitation):
            mail: _Mail | None = await self._database.read(lambda db: _write_invitation(db, one))
        else:
            mail = await self._database.transaction(lambda db: self._make_reset(db, one))
        if mail is not None:
            await self._deliver(mail)

    async def _make_reset(self, db: Connection, request: ResetRequest) -> _Mail | None:
        """Make a link for the member of an address; None if there is none, or nothing to send it with."""
        member, now = await store.find_member_by_email(db, request.email), self._clock.now()
        if member is None or not await self.has_integration(db, member.organization_id):
            return None
        last = await store.find_last_reset_link(db, member.email)
        if last is not None and now - last.created_at < RESET_EVERY:
            return None
        made = await create_reset_link(db, member, now)
        author = Author(actor=SERVICE, request_id=request.request_id)
        await record_member_event(db, Action.MEMBER_CREATE_RESET_LINK, member, author, now)
        return _write_reset(member, made, link_url(self._settings, made))

    async def _deliver(self, mail: _Mail) -> None:
        found = await self._database.read(lambda db: self._list_integrations(db, mail.organization_id))
        message_id = id_text(new_id(self._clock.now()))
        for integration in found:
            outgoing = Outgoing(
                message_id=message_id,
                channel=Channel.EMAIL,
                content=mail.text,
                subject=mail.subject,
                email=mail.to,
                credentials=integration.credentials,
            )
            try:
                await self._gateway.send(integration.provider_id, outgoing)
            except SendFailure as failure:
                fields = {"provider": integration.provider_id, "error": failure.message}
                log.warning("Mail to a member refused", extra=fields)
            else:
                return

    async def _list_integrations(self, db: Connection, organization_id: OrganizationId) -> list[Integration]:
        """List the integrations that can send, in the order in which they are tried: those of Production first."""
        environments = await list_environments(db, organization_id)
        environments.sort(key=lambda one: one.is_development)
        found: list[Integration] = []
        for one in environments:
            found += sorted(_choose(await list_integrations(db, one.id, self._vault)), key=failover_key)
        return found


def _choose(integrations: list[Integration]) -> Iterator[Integration]:
    for one in integrations:
        if one.channel is Channel.EMAIL and one.active and not one.conditions and not _is_built_in(one.provider_id):
            yield one


def _is_built_in(provider_id: str) -> bool:
    """The built-in provider shows mails to everyone who may read messages, so it gets no links."""
    return isinstance(find_provider(provider_id), BuiltinProvider)


async def _write_invitation(db: Connection, one: Invitation) -> _Mail | None:
    organization = await find_organization(db, one.link.organization_id)
    if organization is None or one.link.email is None:
        return None
    who = "You are invited" if one.inviter is None else f"{one.inviter.name} ({one.inviter.email}) invites you"
    text = (
        f"{who} to the team of {organization.name} on Clarion, as {one.link.access.role}.\n\n"
        f"Open this link to accept; it works once, until {iso_text(one.link.expires_at)}:\n{one.url}\n"
    )
    return _Mail(organization.id, one.link.email, f"Invitation to {organization.name}", text)


def _write_reset(member: Member, made: NewLink, url: str) -> _Mail:
    text = (
        f"Hello {member.name},\n\n"
        f"open this link to set a new password; it works once, until {iso_text(made.record.expires_at)}:\n{url}\n\n"
        "If you did not ask for it, do nothing: your password stays as it is.\n"
    )
    return _Mail(member.organization_id, member.email, "Your new password for Clarion", text)
