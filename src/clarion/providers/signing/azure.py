"""The HMAC signature of calls to Azure Communication Services."""

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from hashlib import sha256
from urllib.parse import urlsplit

from clarion.clock import Millis
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import refuse_account
from clarion.providers.signing.digests import hmac_base64
from clarion.secret import Secret


def sign_azure(access_key: Secret, call: ProviderCall, now: Millis) -> Mapping[str, str]:
    """Return the headers that sign a call; the key is the base64 text of the connection string."""
    parts = urlsplit(call.url)
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    date = format_datetime(datetime.fromtimestamp(now // 1000, UTC), usegmt=True)
    digest = base64.b64encode(sha256(call.content).digest()).decode()
    text = f"{call.method}\n{path}\n{date};{parts.netloc};{digest}"
    signature = hmac_base64(_decode(access_key), text.encode())
    authorization = f"HMAC-SHA256 SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature={signature}"
    return {"x-ms-date": date, "x-ms-content-sha256": digest, "Authorization": authorization}


def _decode(access_key: Secret) -> bytes:
    try:
        return base64.b64decode(access_key.reveal(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise refuse_account("The access key is not base64") from error
