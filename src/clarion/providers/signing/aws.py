"""AWS Signature Version 4, for calls with a body."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Protocol
from urllib.parse import parse_qsl, quote, urlsplit

from msgspec import Struct

from clarion.clock import Millis
from clarion.providers.definition.formats import FormatRule
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.signing.digests import hmac_bytes
from clarion.secret import Secret

REFUSED_ACCOUNT_CODES = (
    *("InvalidClientTokenId", "UnrecognizedClientException", "MissingAuthenticationToken", "NotAuthorized"),
    *("SignatureDoesNotMatch", "InvalidSignatureException", "ExpiredToken", "ExpiredTokenException"),
    *("AccessDenied", "AccessDeniedException", "AuthorizationError"),
)
"""What services answer to a key that they do not know, or that may not send."""
_ALGORITHM = "AWS4-HMAC-SHA256"


def is_region(text: str) -> bool:
    return re.fullmatch(r"[a-z]{2,}(-[a-z0-9]+)+", text) is not None


REGION = FormatRule(is_region, "must be a region of Amazon such as eu-west-1")


class AwsKey(Struct, frozen=True, kw_only=True):
    """A key with the service and the region that it signs for."""

    access_key: str
    secret_key: Secret
    region: str
    service: str
    session_token: Secret | None = None


class AwsAccount(Protocol):
    """The AWS credentials of an integration."""

    @property
    def api_key(self) -> str: ...
    @property
    def secret_key(self) -> Secret: ...
    @property
    def region(self) -> str: ...
    @property
    def token(self) -> Secret | None: ...


def aws_address(service: str, region: str) -> str:
    """Return the URL of a service; raises SendFailure for a malformed region, which could name another host."""
    if not is_region(region):
        raise SendFailure(FailureKind.PERMANENT, f"The integration's region {REGION.sentence}")
    return f"https://{service}.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


def make_aws_signer(service: str) -> Callable[[AwsAccount, ProviderCall, Millis], Mapping[str, str]]:
    """Return the `sign` function of a provider that calls this service."""

    def sign(account: AwsAccount, call: ProviderCall, now: Millis) -> Mapping[str, str]:
        key = AwsKey(
            access_key=account.api_key,
            secret_key=account.secret_key,
            region=account.region,
            service=service,
            session_token=account.token,
        )
        return sign_aws(key, call, now)

    return sign


def sign_aws(key: AwsKey, call: ProviderCall, now: Millis) -> Mapping[str, str]:
    """Return the headers that sign a call."""
    timestamp = datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
    parts = urlsplit(call.url)
    added = {"X-Amz-Date": timestamp}
    if key.session_token:
        added["X-Amz-Security-Token"] = key.session_token.reveal()
    signed = {name.lower(): value for name, value in {**call.headers, **added, "Host": parts.netloc}.items()}
    names = ";".join(sorted(signed))
    canonical = "\n".join(
        [
            call.method,
            quote(parts.path or "/", safe="/-_.~%"),
            _canonical_query(parts.query),
            *(f"{name}:{' '.join(signed[name].split())}" for name in sorted(signed)),
            "",
            names,
            sha256(call.content).hexdigest(),
        ]
    )
    scope = f"{timestamp[:8]}/{key.region}/{key.service}/aws4_request"
    text = f"{_ALGORITHM}\n{timestamp}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"
    signature = hmac_bytes(_signing_key(key, timestamp[:8]), text.encode()).hex()
    credential = f"Credential={key.access_key}/{scope}"
    return added | {"Authorization": f"{_ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"}


def _canonical_query(query: str) -> str:
    pairs = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(query, keep_blank_values=True)
    )
    return "&".join(f"{name}={value}" for name, value in pairs)


def _signing_key(key: AwsKey, day: str) -> bytes:
    derived = f"AWS4{key.secret_key.reveal()}".encode()
    for part in (day, key.region, key.service, "aws4_request"):
        derived = hmac_bytes(derived, part.encode())
    return derived
