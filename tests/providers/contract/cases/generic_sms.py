"""Generic SMS with tokens; test_http_sender covers keys."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="generic-sms",
    credentials={
        "baseUrl": "https://sms.example.com/v1/send",
        "apiKeyRequestHeader": "X-Api-Key",
        "apiKey": "canary-api-key",
        "secretKeyRequestHeader": "X-Api-Secret",
        "secretKey": "canary-secret-key",
        "idPath": "data.messages.0.id",
        "from": "Acme",
        "authenticateByToken": True,
        "domain": "https://sms.example.com/v1/token",
        "authenticationTokenKey": "X-Access-Token",
    },
    before={"/v1/token": Reply(body={"data": {"X-Access-Token": "canary-access-token"}})},
    success=Reply(status=201, body={"data": {"messages": [{"id": 4711}]}}),
    message_id="4711",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"error": "bad request"}),
        "401": fault(FailureKind.PERMANENT, 401, {"error": "unauthorized"}),
        "404": fault(FailureKind.PERMANENT, 404, {"error": "not found"}),
        "429": fault(FailureKind.RATE_LIMITED, 429, {"error": "slow down"}, wait=9),
        "500": fault(FailureKind.RETRYABLE, 500, {"error": "oops"}),
        # The error codes of a generic gateway are unknown.
        "invalid recipient": fault(FailureKind.PERMANENT, 422, {"error": "invalid number"}),
        "no id where it should be": fault(FailureKind.RETRYABLE, 200, {"data": {"messages": []}}),
    },
)
