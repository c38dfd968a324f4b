"""Slack with a webhook; test_http_sender covers bot tokens."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="slack",
    credentials={
        "applicationId": "canary-application-id",
        "clientId": "canary-client-id",
        "secretKey": "canary-client-secret",
        "token": "xoxb-canary-bot-token",
    },
    outgoing={
        "webhook_url": "https://hooks.slack.com/services/T0000/B0000/canary-webhook-token",
        "overrides": {"blocks": [{"type": "divider"}], "threadTs": "1.2"},
    },
    success=Reply(body="ok", headers={"X-Slack-Req-Id": "req-1"}),
    message_id="req-1",
    any_body_is_success=True,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "invalid_payload"),
        "401": fault(FailureKind.PERMANENT, 403, "action_prohibited"),
        "404": fault(FailureKind.RECIPIENT_INVALID, 404, "no_service"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "rate_limited", wait=30),
        "500": fault(FailureKind.RETRYABLE, 500, "rollup_error"),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 410, "channel_is_archived"),
    },
)
