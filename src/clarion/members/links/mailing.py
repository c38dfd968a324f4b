"""Mails to members: invitations and links for new passwords, through the SMTP server that the operator named.

Never through the integrations of an environment: whoever can change one would get the owner's link. They are sent in
the background: a request for a new password must take as long for those who are members as for others.
"""

import asyncio
import logging
from collections import deque
from contextlib import suppress
from html import escape
from typing import Any

from msgspec import Struct

from clarion.audit.model import SERVICE, Action, Author
from clarion.audit.recording import record_event
from clarion.background import BackgroundService, ServiceName
from clarion.clock import MINUTE, Clock, Millis, iso_text
from clarion.db.port import Connection, Database
from clarion.environments.store import find_organization
from clarion.errors import StoreUnavailable
from clarion.ids import id_text, new_id
from clarion.members import store
from clarion.members.actions import NewLink, create_reset_link, link_url
from clarion.members.model import Link, Member, MemberAddress
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.settings.addresses import MailServer, parse_mail_url
from clarion.settings.model import Settings
from clarion.vocabulary import Channel

SMTP_PROVIDER = "nodemailer"
EVERYWHERE = EgressGuard(("0.0.0.0/0", "::/0"))
"""The operator names the server, which may be on a private network."""
MAX_WAITING = 1_000
RESET_EVERY = Millis(MINUTE)
"""A member gets no more than one mail in this time, however often somebody asks for it."""
MAX_MAILED = 3
"""Links of one member that are mailed while the earlier ones still work."""

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
    to: str
    subject: str
    paragraphs: tuple[str, ...]
    url: str
    """The link in one of them."""

    @property
    def html(self) -> str:
        """The text as HTML, in which names that people choose are text."""
        link = f'<a href="{escape(self.url)}">{escape(self.url)}</a>'
        return "\n".join(f"<p>{escape(one).replace(escape(self.url), link)}</p>" for one in self.paragraphs)


class TeamMail:
    """Sends mails to members, one after the other."""

    def __init__(self, database: Database, *, settings: Settings, clock: Clock) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._server = None if settings.mail_url is None else parse_mail_url(settings.mail_url)
        self._gateway = ProviderGateway(EVERYWHERE, clock=clock)
        self._waiting: deque[Invitation | ResetRequest] = deque()
        self._has_work = asyncio.Event()
        self._sending: asyncio.Task[None] | None = None

    @property
    def is_configured(self) -> bool:
        """Whether mails can be sent; without that, people pass links on."""
        return self._server is not None

    def post(self, mail: Invitation | ResetRequest) -> None:
        """Send this soon; if too many wait, it is left out, because the link can be made again."""
        if len(self._waiting) >= MAX_WAITING:
            log.warning("Mail to a member left out: too many wait")
            return
        self._waiting.append(mail)
        self._has_work.set()

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.TEAM_MAIL, run_once=self._send_posted, wake_up=self._has_work, finish=self._end
        )

    async def _send_posted(self) -> None:
        # A mail that is under way when the process ends is not begun again: its link may be stored already.
        self._sending = asyncio.create_task(self.send_waiting())
        await asyncio.shield(self._sending)

    async def _end(self) -> None:
        """Send what still waits, and close the connections to the server."""
        async with self._gateway:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.shutdown_grace_seconds):
                    if self._sending is not None:
                        await self._sending
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

    async def _send(self, posted: Invitation | ResetRequest) -> None:
        if isinstance(posted, Invitation):
            mail: _Mail | None = await self._database.read(lambda db: _write_invitation(db, posted))
        else:
            mail = await self._database.transaction(lambda db: self._make_reset(db, posted))
        if mail is not None and self._server is not None:
            await self._deliver(self._server, mail)

    async def _make_reset(self, db: Connection, request: ResetRequest) -> _Mail | None:
        """Make a link for the member of an address; None if there is none, or if they got enough of them.

        Anybody can ask, so asking again neither ends the links before nor fills the audit log.
        """
        member, now = await store.find_member_by_email(db, request.email), self._clock.now()
        if member is None:
            return None
        open_links = await store.list_reset_links(db, member.email, now)
        if len(open_links) >= MAX_MAILED or any(now - one.created_at < RESET_EVERY for one in open_links):
            return None
        made = await create_reset_link(db, member, now)
        if not open_links:
            author = Author(actor=SERVICE, request_id=request.request_id)
            await record_event(db, Action.MEMBER_CREATE_RESET_LINK, member, author, now)
        return _write_reset(member, made, link_url(self._settings, made))

    async def _deliver(self, server: MailServer, mail: _Mail) -> None:
        outgoing = Outgoing(
            message_id=id_text(new_id(self._clock.now())),
            channel=Channel.EMAIL,
            content=mail.html,
            subject=mail.subject,
            email=mail.to,
            credentials=credentials_of(server),
        )
        try:
            await self._gateway.send(SMTP_PROVIDER, outgoing)
        except SendFailure as failure:
            log.warning("Mail to a member refused", extra={"host": server.host, "error": failure.message})


def credentials_of(server: MailServer) -> dict[str, Any]:
    """The server as the credentials of an SMTP integration, which say how it is spoken to."""
    return {
        "host": server.host,
        "port": str(server.port),
        "user": server.user,
        "password": server.password.reveal(),
        "secure": server.implicit_tls,
        "from": server.sender,
        "senderName": server.sender_name,
    }


async def _write_invitation(db: Connection, invitation: Invitation) -> _Mail | None:
    organization = await find_organization(db, invitation.link.organization_id)
    if organization is None or invitation.link.email is None:
        return None
    who = (
        "You are invited"
        if invitation.inviter is None
        else f"{invitation.inviter.name} ({invitation.inviter.email}) invites you"
    )
    paragraphs = (
        f"{who} to the team of {organization.name} on Clarion, as {invitation.link.access.role}.",
        f"Open this link to accept; it works once, until {iso_text(invitation.link.expires_at)}: {invitation.url}",
    )
    return _Mail(invitation.link.email, f"Invitation to {organization.name}", paragraphs, invitation.url)


def _write_reset(member: Member, made: NewLink, url: str) -> _Mail:
    paragraphs = (
        f"Hello {member.name},",
        f"open this link to set a new password; it works once, until {iso_text(made.record.expires_at)}: {url}",
        "If you did not ask for it, do nothing: your password stays as it is.",
    )
    return _Mail(member.email, "Your new password for Clarion", paragraphs, url)
