"""Firebase Cloud Messaging: HTTP API version 1, one call per device, authenticated by a service account."""

from collections.abc import Iterator
from typing import Any

import msgspec

from clarion.clock import Millis
from clarion.providers.definition.answer import ProviderAnswer, json_id
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.failures import codes
from clarion.providers.definition.kinds import PushProvider
from clarion.providers.definition.request import ProviderRequest, path_part
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.definition.sizes import Size, json_bytes, text_bytes
from clarion.providers.definition.token_exchange import TokenExchange
from clarion.providers.push.fcm_message import TARGETS, reads, write_message
from clarion.providers.push.message import Push
from clarion.providers.signing.jwt import sign_rs256
from clarion.secret import Secret

_SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_MAX_BYTES = 4_096
_MAX_TOPIC_BYTES = 2_048


class FcmCredentials(Credentials):
    service_account: Secret
    """The text of the JSON key file of a service account."""


class ServiceAccount(msgspec.Struct, frozen=True):
    project_id: str
    client_email: str
    private_key: str
    private_key_id: str = ""
    token_uri: str = "https://oauth2.googleapis.com/token"  # noqa: S105


def request(account: FcmCredentials, push: Push) -> ProviderRequest:
    project = path_part(_service(account).project_id)
    url = f"https://fcm.googleapis.com/v1/projects/{project}/messages:send"
    return ProviderRequest.json(url, {"message": write_message(push)})


def sizes(call: ProviderRequest) -> Iterator[Size]:
    message = call.body["message"]
    limit = _MAX_BYTES if "token" in message else _MAX_TOPIC_BYTES
    if json_bytes(message) > limit:
        texts = text_bytes(message.get("data", {})) + text_bytes(message.get("notification", {}))
        yield Size("The notification", texts, limit)


def token_request(account: FcmCredentials, now: Millis) -> ProviderRequest:
    service = _service(account)
    issued = now // 1000
    claims: dict[str, Any] = {
        "iss": service.client_email,
        "scope": _SCOPE,
        "aud": service.token_uri,
        "iat": issued,
        "exp": issued + 3_600,
    }
    assertion = sign_rs256(Secret(service.private_key.strip()), claims, key_id=service.private_key_id)
    return ProviderRequest.form(service.token_uri, {"grant_type": _GRANT, "assertion": assertion.reveal()})


def _service(account: FcmCredentials) -> ServiceAccount:
    try:
        return msgspec.json.decode(account.service_account.reveal(), type=ServiceAccount)
    except msgspec.DecodeError as error:
        message = "The service account is not the JSON of one: it needs project_id, client_email and private_key"
        raise SendFailure(FailureKind.PERMANENT, message) from error


def classify_bad_argument(answer: ProviderAnswer) -> FailureKind | None:
    """Classify a 400 as an invalid recipient only if the error is about the token."""
    if answer.status != 400:
        return None
    fields = answer.values("error.details.*.fieldViolations.*.field")
    blames_token = "message.token" in fields or "registration token" in str(answer.value("error.message"))
    return FailureKind.RECIPIENT_INVALID if blames_token else FailureKind.PERMANENT


PROVIDER = PushProvider(
    id="fcm",
    name="Firebase Cloud Messaging",
    credentials=FcmCredentials,
    request=request,
    is_called_per_token=True,
    token=TokenExchange(request=token_request),
    sent=json_id("name"),
    failures=(
        codes(
            "error.details.*.errorCode",
            recipient_invalid=("UNREGISTERED", "SENDER_ID_MISMATCH"),
            rate_limited=("QUOTA_EXCEEDED",),
            retryable=("UNAVAILABLE", "INTERNAL"),
            permanent=("THIRD_PARTY_AUTH_ERROR",),
        ),
        classify_bad_argument,
    ),
    targets=TARGETS,
    reads=reads,
    sizes=sizes,
    documentation="https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send",
    note="The overrides `topic` and `condition` send one message to those devices instead of the subscriber's. With "
    "`type: data` the message has no notification, and the trigger's payload is its data.",
)
