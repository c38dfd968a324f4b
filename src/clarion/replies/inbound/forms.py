"""Reading the hooks of providers: SendGrid, Mailgun, Postmark, SES through SNS, and plain forms or JSON."""

import base64
import binascii
import math
from collections.abc import Callable, Mapping
from email.parser import HeaderParser
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.http.input.forms import read_parts
from clarion.providers.definition.receipts import Callback, ReceiptRefused
from clarion.replies.inbound.mime import MAX_HEADER, MailUnreadable, clean, make_mail, read_mime
from clarion.replies.model import MAX_PEOPLE, MAX_TEXT, InboundMail, MailAttachment

_JSON: Final = "application/json"
_MULTIPART: Final = "multipart/form-data"
_MAX_FIELDS: Final = 200


class Form(Struct, frozen=True):
    """The texts and the files of a hook."""

    texts: Mapping[str, str]
    """By lower-case names."""
    files: list[tuple[MailAttachment, bytes]] = []

    def get(self, *names: str) -> str:
        """Return the first of these texts that is there and not empty."""
        return next((text for name in names if (text := self.texts.get(name))), "")

    @property
    def attachments(self) -> list[MailAttachment]:
        return [one for one, _ in self.files]


def read_mails(provider_id: str, callback: Callback) -> "list[ArrivedMail]":
    """Return the mails of a hook; raises ReceiptRefused or Malformed if it is in no form that is known."""
    return _READERS.get(provider_id, _read_plain)(callback)


class ArrivedMail(Struct, frozen=True, kw_only=True):
    """A mail of a hook, which is read only if somebody wants it."""

    recipients: list[str]
    """To whom it was delivered, as far as the provider tells."""
    parse: Callable[[], InboundMail]
    dkim: str = ""
    spf: str = ""
    spam_score: float | None = None
    sender: str = ""
    """From whom it was delivered, as far as the provider tells."""
    received_at: Millis

    def read(self) -> InboundMail:
        """Return the mail; raises MailUnreadable. It can take a second."""
        return replace(
            self.parse(),
            dkim=clean(self.dkim)[:MAX_HEADER],
            spf=clean(self.spf)[:MAX_HEADER],
            spam_score=self.spam_score,
            envelope_from=clean(self.sender)[:MAX_HEADER],
            envelope_to=[clean(one)[:MAX_HEADER] for one in self.recipients],
            received_at=self.received_at,
        )


def _read_sendgrid(callback: Callback) -> list[ArrivedMail]:
    form = read_form(callback)
    envelope = _object(_json(form.get("envelope")))

    def parse() -> InboundMail:
        raw = form.texts.get("email")
        if raw is not None:
            return read_mime(raw.encode("utf-8", "surrogateescape"))
        return _mail_of(form, HeaderParser().parsestr(form.get("headers")[:MAX_TEXT]).items())

    return [
        ArrivedMail(
            recipients=_texts(envelope.get("to")),
            parse=parse,
            dkim=form.get("dkim"),
            spf=form.get("spf"),
            spam_score=_number(form.get("spam_score")),
            sender=_text(envelope, "from"),
            received_at=callback.received_at,
        )
    ]


def _read_mailgun(callback: Callback) -> list[ArrivedMail]:
    form = read_form(callback)

    def parse() -> InboundMail:
        raw = form.texts.get("body-mime")
        if raw is not None:
            return read_mime(raw.encode("utf-8", "surrogateescape"))
        pairs = _json(form.get("message-headers"))
        pairs = pairs if isinstance(pairs, list) else []
        return _mail_of(form, [tuple(one) for one in pairs if isinstance(one, list) and len(one) == 2])

    recipients = _texts([form.get("recipient")])
    sender = form.get("sender")
    return [ArrivedMail(recipients=recipients, parse=parse, sender=sender, received_at=callback.received_at)]


def _read_postmark(callback: Callback) -> list[ArrivedMail]:
    return [
        ArrivedMail(
            recipients=_texts([event.get("OriginalRecipient")]),
            parse=partial(_parse_postmark, event),
            received_at=callback.received_at,
        )
        for event in callback.events()
    ]


def _parse_postmark(event: Mapping[str, Any]) -> InboundMail:
    headers = [(one.get("Name"), one.get("Value")) for one in _objects(event.get("Headers"))]
    headers += [
        ("from", _text(event, "From")),
        ("to", _text(event, "To")),
        ("cc", _text(event, "Cc")),
        ("subject", _text(event, "Subject")),
        ("date", _text(event, "Date")),
        ("message-id", _text(event, "MessageID")),
    ]
    files = [_describe_file(one) for one in _objects(event.get("Attachments"))]
    return make_mail(headers, text=_text(event, "TextBody"), html=_text(event, "HtmlBody"), attachments=files)


def _describe_file(file: Mapping[str, Any]) -> MailAttachment:
    return MailAttachment(
        file_name=_text(file, "Name"),
        content_type=_text(file, "ContentType"),
        length=int(_number(file.get("ContentLength")) or 0),
    )


def _read_ses(callback: Callback) -> list[ArrivedMail]:
    mails = []
    for notification in callback.events():
        try:
            event = msgspec.json.decode(_text(notification, "Message"), type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeError):
            # A topic tells in plain text that it was subscribed to.
            continue
        receipt, about = _object(event.get("receipt")), _object(event.get("mail"))
        content = _text(event, "content")
        if not content:
            continue
        is_encoded = _text(_object(receipt.get("action")), "encoding") == "BASE64"
        mails.append(
            ArrivedMail(
                recipients=_texts(receipt.get("recipients")),
                parse=partial(_parse_ses, content, is_encoded=is_encoded),
                dkim=_text(_object(receipt.get("dkimVerdict")), "status"),
                spf=_text(_object(receipt.get("spfVerdict")), "status"),
                sender=_text(about, "source"),
                received_at=callback.received_at,
            )
        )
    return mails


def _parse_ses(content: str, *, is_encoded: bool) -> InboundMail:
    return read_mime(_base64(content) if is_encoded else content.encode("utf-8", "surrogateescape"))


def _read_plain(callback: Callback) -> list[ArrivedMail]:
    """Read a form or an object with the texts of a mail, or with the mail itself as `email`."""
    form = read_form(callback)

    def parse() -> InboundMail:
        raw = form.texts.get("email")
        return _mail_of(form, ()) if raw is None else read_mime(raw.encode("utf-8", "surrogateescape"))

    recipients = _texts([form.get("recipient", "envelope-to")])
    return [ArrivedMail(recipients=recipients, parse=parse, received_at=callback.received_at)]


def read_form(callback: Callback) -> Form:
    """Return the texts and files of a body: a form of either kind, or an object."""
    kind = callback.headers.get("content-type", "")
    media_type = kind.partition(";")[0].strip().lower()
    if media_type == _MULTIPART:
        return _read_multipart(kind, callback.body)
    if media_type == _JSON:
        events = callback.events()
        if len(events) != 1:
            raise ReceiptRefused("The body must be one object")
        return Form({str(name).lower(): value for name, value in events[0].items() if isinstance(value, str)})
    try:
        pairs = parse_qsl(callback.body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError as error:
        raise ReceiptRefused(f"The form has more than {_MAX_FIELDS} fields") from error
    return Form({name.lower(): value for name, value in reversed(pairs)})


def _read_multipart(kind: str, body: bytes) -> Form:
    texts: dict[str, str] = {}
    files = []
    for part in read_parts(kind.encode("latin-1"), body):
        if part.file_name is None:
            texts.setdefault(part.name.lower(), part.content.decode("utf-8", "replace"))
        else:
            content = bytes(part.content)
            content_type = part.headers.get(b"content-type", b"").decode("latin-1")
            described = MailAttachment(file_name=part.file_name, content_type=content_type, length=len(content))
            files.append((described, content))
    return Form(texts, files)


def _mail_of(form: Form, headers: Any) -> InboundMail:
    """Return a mail by its headers, and for those that are missing by texts of the form."""
    pairs = [*headers, *((name, form.get(name)) for name in _HEADERS if form.get(name))]
    text, html = form.get("text", "body-plain"), form.get("html", "body-html")
    return make_mail(pairs, text=text, html=html, attachments=form.attachments)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    return [one for one in value if one and isinstance(one, str)][:MAX_PEOPLE] if isinstance(value, list) else []


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _json(text: str) -> Any:
    """Decode a text of a form; None if it is no JSON."""
    try:
        return msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return None


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError) as error:
        raise MailUnreadable("The mail is not in base64, as its event says") from error


_HEADERS: Final = ("from", "to", "cc", "subject", "date", "message-id", "in-reply-to", "references")
_READERS: Final[Mapping[str, Callable[[Callback], list[ArrivedMail]]]] = {
    "sendgrid": _read_sendgrid,
    "mailgun": _read_mailgun,
    "postmark": _read_postmark,
    "ses": _read_ses,
}
