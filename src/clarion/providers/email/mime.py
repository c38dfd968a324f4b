"""An e-mail as it goes over SMTP: MIME in seven bits, and the envelope."""

from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import EmailPolicy

from clarion.providers.base import FailureKind, SendFailure
from clarion.providers.email.message import Attachment, Email


class _Policy(EmailPolicy):
    """Headers as the standard library writes them, but for words longer than a line.

    It would encode these, and a List-Unsubscribe with an encoded URL is none.
    """

    def fold_binary(self, name: str, value: str) -> bytes:
        text = str(value)
        if text.isascii() and len(text) < 900 and any(len(word) > 60 for word in text.split()):
            return f"{name}: {text}{self.linesep}".encode("ascii")
        return super().fold_binary(name, value)


# The body is made of ASCII alone, so that servers without 8BITMIME take it.
_POLICY = _Policy(linesep="\r\n", cte_type="7bit")
_POLICY_UTF8 = _POLICY.clone(utf8=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """An e-mail and its envelope."""

    message_id: str
    sender: str
    to: str
    copies: tuple[str, ...]
    needs_utf8: bool
    content: bytes

    @property
    def recipients(self) -> list[str]:
        return list(dict.fromkeys((self.to, *self.copies)))


def write_letter(email: Email) -> Letter:
    try:
        return _write(email)
    except ValueError as error:
        raise SendFailure(FailureKind.PERMANENT, f"The message cannot be written as an e-mail: {error}") from error


def _write(email: Email) -> Letter:
    everybody = (email.sender, email.to, *email.cc, *email.bcc, *email.reply_to)
    needs_utf8 = not all(one.addr_spec.isascii() for one in everybody)
    message = EmailMessage(policy=_POLICY_UTF8 if needs_utf8 else _POLICY)
    message["From"], message["To"] = email.sender, email.to
    # Copies that nobody sees are on the envelope alone.
    for name, addresses in (("Cc", email.cc), ("Reply-To", email.reply_to)):
        if addresses:
            message[name] = addresses
    message["Subject"] = email.subject
    message["Date"] = datetime.fromtimestamp(email.at // 1000, UTC)
    message["Message-ID"] = f"<{email.message_id}@{email.sender.domain}>"
    for name, value in email.headers.items():
        del message[name]
        message[name] = value
    _add_content(message, email)
    # The same message is the same bytes at every try; `=_` is in no text that is encoded.
    for place, part in enumerate(message.walk()):
        if part.is_multipart():
            part.set_boundary(f"=_clarion-{email.message_id}-{place}")
    return Letter(
        message_id=str(message["Message-ID"]),
        sender=email.sender.addr_spec,
        to=email.to.addr_spec,
        copies=tuple(one.addr_spec for one in (*email.cc, *email.bcc)),
        needs_utf8=needs_utf8,
        content=message.as_bytes(),
    )


def _add_content(message: EmailMessage, email: Email) -> None:
    message.set_content(email.text)
    if email.html is not None:
        message.add_alternative(email.html, subtype="html")
        shown = message.get_payload(1)
        for attachment in filter(lambda one: one.is_inline, email.attachments):
            _add_inline(shown, attachment)
    for attachment in email.attachments:
        if email.html is None or not attachment.is_inline:
            main, _, sub = attachment.type.partition("/")
            message.add_attachment(attachment.content, main, sub or "octet-stream", filename=attachment.name)


def _add_inline(shown: object, attachment: Attachment) -> None:
    if isinstance(shown, EmailMessage):
        main, _, sub = attachment.type.partition("/")
        shown.add_related(
            attachment.content,
            main,
            sub or "octet-stream",
            cid=f"<{attachment.content_id}>",
            filename=attachment.name,
            disposition="inline",
        )
