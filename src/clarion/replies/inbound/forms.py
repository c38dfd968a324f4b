"""Reading the hooks of providers: SendGrid, Mailgun, Postmark, SES through SNS, and plain forms or JSON."""

import base64
import binascii
from collections.abc import Callable, Mapping
from email.parser import HeaderParser
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clarion.errors import Malformed
from clarion.http.input.forms import read_parts
from clarion.jsontext import json_value
from clarion.providers.definition.receipts import Callback, ReceiptRefused
from clarion.replies.inbound.mime import make_mail, read_mime
from clarion.replies.model import MAX_PEOPLE, InboundMail, MailAttachment

_JSON: Final = "application/json"
_MULTIPART: Final = "multipart/form-data"


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


def read_mails(provider_id: str, callback: Callback) -> list[InboundMail]:
    """Return the mails of a hook; raises ReceiptRefused or Malformed if it is in no form that is known."""
    read = _READERS.get(provider_id, _read_plain)
    return [replace(mail, received_at=callback.received_at) for mail in read(callback)]


def _read_sendgrid(callback: Callback) -> list[InboundMail]:
    form = read_form(callback)
    raw = form.texts.get("email")
    if raw is not None:
        mail = read_mime(raw.encode("utf-8", "surrogateescape"))
    else:
        mail = _mail_of(form, HeaderParser().parsestr(form.get("headers")).items())
    envelope = json_value(form.get("envelope") or "{}")
    envelope = envelope if isinstance(envelope, dict) else {}
    score = form.get("spam_score")
    return [
        replace(
            mail,
            dkim=form.get("dkim"),
            spf=form.get("spf"),
            spam_score=_number(score),
            envelope_from=str(envelope.get("from") or ""),
            envelope_to=_texts(envelope.get("to")),
        )
    ]


def _read_mailgun(callback: Callback) -> list[InboundMail]:
    form = read_form(callback)
    raw = form.texts.get("body-mime")
    if raw is not None:
        mail = read_mime(raw.encode("utf-8", "surrogateescape"))
    else:
        pairs = json_value(form.get("message-headers") or "[]")
        headers = [tuple(one) for one in pairs if isinstance(one, list) and len(one) == 2]
        mail = _mail_of(form, headers)
    return [replace(mail, envelope_from=form.get("sender"), envelope_to=[form.get("recipient")])]


def _read_postmark(callback: Callback) -> list[InboundMail]:
    mails = []
    for event in callback.events():
        given = event.get("Headers")
        headers = [(one.get("Name"), one.get("Value")) for one in _objects(given)]
        headers += [
            ("from", _text(event, "From")),
            ("to", _text(event, "To")),
            ("cc", _text(event, "Cc")),
            ("subject", _text(event, "Subject")),
            ("date", _text(event, "Date")),
            ("message-id", _text(event, "MessageID")),
        ]
        files = [_describe_file(one) for one in _objects(event.get("Attachments"))]
        mail = make_mail(headers, text=_text(event, "TextBody"), html=_text(event, "HtmlBody"), attachments=files)
        mails.append(replace(mail, envelope_to=[_text(event, "OriginalRecipient")]))
    return mails


def _describe_file(file: Mapping[str, Any]) -> MailAttachment:
    return MailAttachment(
        file_name=_text(file, "Name"),
        content_type=_text(file, "ContentType"),
        length=int(_number(file.get("ContentLength")) or 0),
    )


def _read_ses(callback: Callback) -> list[InboundMail]:
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
        encoding = _text(_object(receipt.get("action")), "encoding")
        raw = _base64(content) if encoding == "BASE64" else content.encode("utf-8", "surrogateescape")
        mails.append(
            replace(
                read_mime(raw),
                dkim=_text(_object(receipt.get("dkimVerdict")), "status"),
                spf=_text(_object(receipt.get("spfVerdict")), "status"),
                envelope_from=_text(about, "source"),
                envelope_to=_texts(receipt.get("recipients")),
            )
        )
    return mails


def _read_plain(callback: Callback) -> list[InboundMail]:
    """Read a form or an object with the texts of a mail, or with the mail itself as `email`."""
    form = read_form(callback)
    raw = form.texts.get("email")
    mail = _mail_of(form, ()) if raw is None else read_mime(raw.encode("utf-8", "surrogateescape"))
    recipient = form.get("recipient", "envelope-to")
    return [replace(mail, envelope_to=[recipient] if recipient else [])]


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
    pairs = parse_qsl(callback.body.decode("utf-8", "replace"), keep_blank_values=True)
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
    return [one for one in value if isinstance(one, str)][:MAX_PEOPLE] if isinstance(value, list) else []


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError) as error:
        raise Malformed("The mail is not in base64, as its event says") from error


_HEADERS: Final = ("from", "to", "cc", "subject", "date", "message-id", "in-reply-to", "references")
_READERS: Final[Mapping[str, Callable[[Callback], list[InboundMail]]]] = {
    "sendgrid": _read_sendgrid,
    "mailgun": _read_mailgun,
    "postmark": _read_postmark,
    "ses": _read_ses,
}
