"""Every request example of the API description is accepted by a running service, sent in an order that makes sense."""

import datetime as dt
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from clarion.http.description.examples import APPLICATION, ID, SOON, TOKEN
from tests.contract.description import DESCRIPTION
from tests.processes import Start

EXAMPLES: dict[str, Any] = {
    f"{method.upper()} {path}": operation["requestBody"]["content"]["application/json"]["examples"]["example"]["value"]
    for path, methods in DESCRIPTION["paths"].items()
    for method, operation in methods.items()
    # Forms with files have no example.
    if "application/json" in operation.get("requestBody", {}).get("content", {})
}
SECONDS = 60
# Nothing listens there: the test message is answered with what went wrong.
SMTP = {"host": "127.0.0.1", "port": "9", "from": "hello@example.com"}
SERVICE_ACCOUNT = json.dumps({"project_id": "shop", "client_email": "a@example.com", "private_key": "none"})


class Story:
    """A service, and what was made in it so far: `known` has the values of path parameters and placeholders."""

    def __init__(self, address: str, key: str, application: str) -> None:
        self.client = httpx.Client(base_url=address, timeout=30)
        self.credentials = {"Authorization": f"ApiKey {key}"}
        self.known = {
            "subscriberId": "ada",
            "topicKey": "release-news",
            "workflowId": "order-shipped",
            "layoutId": "newsletter",
            "stepId": "mail",
            "identifier": "weekly",
            "contextType": "tenant",
            "segmentKey": "gold-members",
            "scheduleKey": "weekly-report",
            "variableKey": "SUPPORT_URL",
            "contextId": "acme",
            APPLICATION: application,
            SOON: (dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)).isoformat(),
        }
        self.left = dict(EXAMPLES)

    def send(self, operation: str, **known: str) -> Any:
        """Send the example of an operation; returns the response, which must be 2xx."""
        self.known |= known
        text = json.dumps(self.left.pop(operation))
        for placeholder in (ID, TOKEN, APPLICATION, SOON):
            text = text.replace(placeholder, self.known.get(placeholder, placeholder))
        return self.call(operation, content=text)

    def call(self, operation: str, **options: Any) -> Any:
        method, path = operation.split()
        url = re.sub(r"\{(\w+)\}", lambda found: self.known[found[1]], path)
        headers = self.credentials | {"Content-Type": "application/json"}
        response = self.client.request(method, url, headers=headers, **options)
        assert response.is_success, f"{operation}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    def wait_for(self, operation: str, count: int) -> list[Any]:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            found: list[Any] = self.call(operation)["data"]
            if len(found) >= count:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{operation} never had {count} items")


@pytest.fixture
def story(start: Start, tmp_path: Path) -> Iterator[Story]:
    settings = {"CLARION_DEVELOPMENT_APP_ID": "shop", "CLARION_EGRESS_ALLOW": "127.0.0.0/8"}
    process = start("serve", "--data-dir", str(tmp_path), **settings)
    story = Story(process.address, process.keys["Development"], "shop")
    found = re.search(r"http\S+#(\S+)", process.output)
    assert found is not None, process.output
    story.known[TOKEN] = found[1]
    with story.client:
        yield story


def test_every_example_is_accepted(story: Story) -> None:
    tell_of_people(story)
    tell_of_workflows(story)
    tell_of_inbox(story)
    tell_of_messages(story)
    tell_of_configuration(story)
    tell_of_owner(story)
    tell_of_environments(story)
    tell_of_team(story)

    assert story.left == {}, "add the new operations to the story, or their examples to http/description/examples.py"


def tell_of_people(story: Story) -> None:
    for operation in (
        "POST /v2/subscribers",
        "POST /v1/subscribers/bulk",
        "PATCH /v2/subscribers/{subscriberId}",
        "PATCH /v1/subscribers/{subscriberId}/online-status",
        "POST /v2/topics",
        "PATCH /v2/topics/{topicKey}",
        "POST /v2/topics/{topicKey}/subscriptions",
        "DELETE /v2/topics/{topicKey}/subscriptions",
        "POST /v1/segments",
        "PATCH /v1/segments/{segmentKey}",
        "POST /v1/segments/preview",
        "POST /v2/contexts",
        "PATCH /v2/contexts/{contextType}/{contextId}",
    ):
        story.send(operation)
    fcm = {"providerId": "fcm", "channel": "push", "active": True, "credentials": {"serviceAccount": SERVICE_ACCOUNT}}
    story.call("POST /v1/integrations", json=fcm)
    story.send("PATCH /v1/subscribers/{subscriberId}/credentials")
    story.send("PUT /v1/subscribers/{subscriberId}/credentials")


def tell_of_workflows(story: Story) -> None:
    story.send("POST /v2/workflows")
    # A second version, which the third one replaces.
    story.call("PUT /v2/workflows/{workflowId}", json={"name": "Order shipped", "steps": []})
    story.send("POST /v1/schedules")
    story.send("PATCH /v1/schedules/{scheduleKey}")
    for operation in (
        "PUT /v2/workflows/{workflowId}",
        "PATCH /v2/workflows/{workflowId}",
        "POST /v2/translations",
        "POST /v2/translations/master-json",
        "POST /v2/translations/import",
        "POST /v2/workflows/{workflowId}/duplicate",
        "POST /v2/workflows/{workflowId}/step/{stepId}/preview",
        "POST /v1/workflows/steps/preview",
        "PATCH /v2/subscribers/{subscriberId}/preferences",
        "PATCH /v2/subscribers/{subscriberId}/preferences/bulk",
        "POST /v2/layouts",
        "PUT /v2/layouts/{layoutId}",
        "POST /v2/layouts/{layoutId}/duplicate",
        "POST /v2/layouts/{layoutId}/preview",
        "POST /v1/simulate",
        "POST /v1/workflows/{workflowId}/impact",
        "POST /v1/workflows/{workflowId}/runs/move",
        "POST /v1/events/trigger",
        "POST /v1/events/trigger/bulk",
        "POST /v1/events/trigger/broadcast",
        "POST /v1/events/emit",
        "POST /v1/digests/flush",
    ):
        answer = story.send(operation)
        if "trigger" in operation:
            assert "error" not in json.dumps(answer), f"{operation}: {answer}"
    tell_of_questions(story)


def tell_of_questions(story: Story) -> None:
    choices, timeout = [{"value": "approve"}], {"amount": 1, "unit": "hours"}
    controls = {"question": "Approve?", "choices": choices, "timeout": timeout}
    steps = [{"name": "Approval", "type": "ask", "controlValues": controls}]
    story.call(
        "POST /v2/workflows", json={"name": "Approval", "workflowId": "approval", "active": True, "steps": steps}
    )
    body = {"name": "approval", "to": "ada", "transactionId": "approval-1"}
    story.call("POST /v1/events/trigger", json=body)
    (run,) = story.wait_for("GET /v1/notifications?transactionId=approval-1", 1)
    story.send("POST /v1/runs/{notificationId}/answers", notificationId=run["_id"])


def tell_of_inbox(story: Story) -> None:
    key = story.credentials
    session = story.send("POST /v1/inbox/session")["data"]
    story.credentials = {"Authorization": f"Bearer {session['token']}"}
    first, *_ = story.wait_for("GET /v1/inbox/notifications", 3)
    story.known |= {"notificationId": first["id"], ID: first["id"]}
    for operation in (
        "PATCH /v1/inbox/notifications/{notificationId}/complete",
        "PATCH /v1/inbox/notifications/{notificationId}/revert",
        "PATCH /v1/inbox/notifications/{notificationId}/snooze",
        "POST /v1/inbox/notifications/seen",
        "POST /v1/inbox/notifications/read",
        "POST /v1/inbox/notifications/archive",
        "POST /v1/inbox/notifications/read-archive",
        "POST /v1/inbox/notifications/delete",
        "PATCH /v1/inbox/preferences",
        "PATCH /v1/inbox/preferences/{workflowId}",
        "PATCH /v1/inbox/preferences/bulk",
        "POST /v1/inbox/topics/{topicKey}/subscriptions",
        "PATCH /v1/inbox/topics/{topicKey}/subscriptions/{identifier}",
        "PATCH /v1/inbox/subscriptions/{identifier}/preferences/{workflowId}",
    ):
        story.send(operation)
    story.credentials = key


def tell_of_messages(story: Story) -> None:
    story.known |= {"messageId": story.known["notificationId"], "actionType": "primary"}
    for operation in (
        "PATCH /v1/messages/{messageId}",
        "POST /v1/subscribers/{subscriberId}/messages/{messageId}/actions/{actionType}",
        "PATCH /v2/topics/{topicKey}/subscriptions/{identifier}",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/snooze",
        "POST /v2/subscribers/{subscriberId}/notifications/seen",
        "POST /v2/subscribers/{subscriberId}/notifications/read",
        "POST /v2/subscribers/{subscriberId}/notifications/archive",
        "POST /v2/subscribers/{subscriberId}/notifications/read-archive",
        "POST /v2/subscribers/{subscriberId}/notifications/delete",
        "POST /v1/subscribers/{subscriberId}/messages/mark-as",
        "POST /v1/subscribers/{subscriberId}/messages/mark-all",
        "POST /v1/suppressions",
        "POST /v1/suppressions/bulk",
        "DELETE /v1/suppressions/bulk",
        "POST /v1/dead-letters/redrive",
        "POST /v1/dead-letters/discard",
    ):
        story.send(operation)


def tell_of_test_emails(story: Story) -> None:
    story.send("POST /v1/workflows/steps/test-email")
    story.send("POST /v1/workflows/steps/test-request")
    layout = story.call("POST /v2/layouts", json={"layoutId": "letterhead", "name": "Letterhead"})
    story.send("POST /v2/layouts/{layoutId}/test-email", layoutId=layout["layoutId"])


def tell_of_configuration(story: Story) -> None:
    mail = {"providerId": "nodemailer", "channel": "email", "credentials": SMTP, "active": True}
    smtp = story.call("POST /v1/integrations", json=mail)
    story.send("POST /v1/integrations/{integrationId}/test", integrationId=smtp["_id"])
    tell_of_test_emails(story)
    story.call("PUT /v1/integrations/{integrationId}", json={"active": False})
    made = story.send("POST /v1/integrations")
    story.send("PUT /v1/integrations/{integrationId}", integrationId=made["_id"])
    slack = {"applicationId": "A1", "clientId": "1.2", "secretKey": "secret"}
    story.call(
        "POST /v1/integrations",
        json={
            "providerId": "slack",
            "channel": "chat",
            "identifier": "slack-main",
            "active": True,
            "credentials": slack,
        },
    )
    connection = story.send("POST /v1/channel-connections")
    story.send("PATCH /v1/channel-connections/{connectionIdentifier}", connectionIdentifier=connection["identifier"])
    for operation in ("channel-connections", "channel-endpoints", "chat"):
        story.send(f"POST /v1/integrations/{operation}/oauth")
    story.send("POST /v1/integrations/channel-endpoints/link")
    telegram = {"providerId": "telegram", "channel": "chat", "identifier": "bot"}
    story.call("POST /v1/integrations", json=telegram)
    story.send("POST /v1/integrations/{integrationIdentifier}/mobile-link", integrationIdentifier="bot")
    session = story.call("POST /v1/inbox/session", json={"applicationIdentifier": "shop", "subscriberId": "ada"})
    key, story.credentials = story.credentials, {"Authorization": f"Bearer {session['data']['token']}"}
    for operation in ("channel-connections", "channel-endpoints"):
        story.send(f"POST /v1/inbox/{operation}/oauth")
    story.send("POST /v1/inbox/channel-endpoints/link")
    story.credentials = key
    endpoint = story.send("POST /v1/channel-endpoints")
    story.send("PATCH /v1/channel-endpoints/{endpointIdentifier}", endpointIdentifier=endpoint["identifier"])
    story.send("PUT /v1/integrations/order", **{ID: made["_id"]})
    story.send("POST /v1/environment-variables", **{ID: story.call("GET /v1/environments/me")["_id"]})
    story.send("PATCH /v1/environment-variables/{variableKey}")
    endpoint = story.send("POST /v1/webhooks/endpoints")
    story.send("PATCH /v1/webhooks/endpoints/{endpointId}", endpointId=endpoint["_id"])
    story.send("POST /v1/webhooks/endpoints/{endpointId}/replay")


def tell_of_owner(story: Story) -> None:
    story.credentials = {"X-Clarion": "1", "Clarion-Environment": "shop", "Origin": str(story.client.base_url)}
    story.send("POST /v1/auth/setup")
    story.send("POST /v1/auth/sign-in")
    story.send("PATCH /v1/auth/me")
    story.send("POST /v1/auth/me/password")


def tell_of_environments(story: Story) -> None:
    story.send("PATCH /v1/organizations/settings")
    other = story.send("POST /v1/environments")
    story.send("POST /v2/environments/{targetEnvironmentId}/diff", targetEnvironmentId=other["_id"])
    story.send("POST /v2/environments/{targetEnvironmentId}/publish")
    story.send("PUT /v2/workflows/{workflowId}/sync", **{ID: other["_id"]})
    story.send("PATCH /v1/environments/{environmentId}", environmentId=other["_id"])
    story.send("PUT /v1/environments/{environmentId}")
    key = story.send("POST /v1/environments/api-keys")
    story.send("PATCH /v1/environments/api-keys/{apiKeyId}", apiKeyId=key["apiKey"]["_id"])


def tell_of_team(story: Story) -> None:
    made = story.send("POST /v1/members/invitations", **{ID: story.known["environmentId"]})
    owner, story.client.cookies = story.client.cookies, httpx.Cookies()
    story.send("POST /v1/auth/invitation", **{TOKEN: made["link"].partition("#")[2]})
    member = story.send("POST /v1/auth/invitation/accept")["member"]
    story.client.cookies = owner
    story.send("PATCH /v1/members/{memberId}", memberId=member["_id"])
    link = story.call("POST /v1/members/{memberId}/reset-link")
    story.send("POST /v1/auth/reset-request")
    story.send("POST /v1/auth/reset", **{TOKEN: link["link"].partition("#")[2]})
