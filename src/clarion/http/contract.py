"""Which operations are whose contract, and so what becomes of members that they do not know.

A client of somebody else may send more than we read, and must go on working. A caller of our own operations who sends
something unknown has made a mistake.
"""

from enum import StrEnum


class Contract(StrEnum):
    OWN = "own"
    """Defined here: unknown members are refused."""
    PUBLISHED = "published"
    """Called by the published clients: unknown members are accepted, and the response warns of them."""
    FOREIGN = "foreign"
    """Called by servers of others, such as providers, by rules of theirs: nothing that they add is looked at."""


def contract_of(method: str, path: str) -> Contract:
    """The contract of an operation that does not declare itself as foreign."""
    is_published = f"{method} {path}" in PUBLISHED or path.startswith(_INBOX)
    return Contract.PUBLISHED if is_published else Contract.OWN


_INBOX = "/v1/inbox/"
"""The client of the published inbox component calls all of these."""

PUBLISHED = frozenset(
    {
        "GET /v1/environments",
        "POST /v1/environments",
        "GET /v1/environments/api-keys",
        "GET /v1/environments/me",
        "DELETE /v1/environments/{environmentId}",
        "PUT /v1/environments/{environmentId}",
        "POST /v1/events/trigger",
        "POST /v1/events/trigger/broadcast",
        "POST /v1/events/trigger/bulk",
        "DELETE /v1/events/trigger/{transactionId}",
        "GET /v1/health-check",
        "GET /v1/integrations",
        "POST /v1/integrations",
        "GET /v1/integrations/active",
        "DELETE /v1/integrations/{integrationId}",
        "PUT /v1/integrations/{integrationId}",
        "POST /v1/integrations/{integrationId}/set-primary",
        "GET /v1/messages",
        "DELETE /v1/messages/transaction/{transactionId}",
        "DELETE /v1/messages/{messageId}",
        "GET /v1/notifications",
        "GET /v1/notifications/{notificationId}",
        "POST /v1/subscribers/bulk",
        "PATCH /v1/subscribers/{subscriberId}/credentials",
        "PUT /v1/subscribers/{subscriberId}/credentials",
        "DELETE /v1/subscribers/{subscriberId}/credentials/{providerId}",
        "POST /v1/subscribers/{subscriberId}/messages/mark-all",
        "POST /v1/subscribers/{subscriberId}/messages/mark-as",
        "GET /v1/subscribers/{subscriberId}/notifications/feed",
        "GET /v1/subscribers/{subscriberId}/notifications/unseen",
        "PATCH /v1/subscribers/{subscriberId}/online-status",
        "GET /v1/topics/{topicKey}/subscribers/{externalSubscriberId}",
        "GET /v2/environments/{environmentId}/tags",
        "POST /v2/environments/{targetEnvironmentId}/diff",
        "POST /v2/environments/{targetEnvironmentId}/publish",
        "GET /v2/subscribers",
        "POST /v2/subscribers",
        "DELETE /v2/subscribers/{subscriberId}",
        "GET /v2/subscribers/{subscriberId}",
        "PATCH /v2/subscribers/{subscriberId}",
        "GET /v2/subscribers/{subscriberId}/notifications",
        "POST /v2/subscribers/{subscriberId}/notifications/archive",
        "GET /v2/subscribers/{subscriberId}/notifications/count",
        "POST /v2/subscribers/{subscriberId}/notifications/delete",
        "POST /v2/subscribers/{subscriberId}/notifications/read",
        "POST /v2/subscribers/{subscriberId}/notifications/read-archive",
        "POST /v2/subscribers/{subscriberId}/notifications/seen",
        "DELETE /v2/subscribers/{subscriberId}/notifications/{notificationId}",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/actions/{actionType}/complete",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/actions/{actionType}/revert",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/archive",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/read",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/snooze",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unarchive",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unread",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unsnooze",
        "GET /v2/subscribers/{subscriberId}/preferences",
        "PATCH /v2/subscribers/{subscriberId}/preferences",
        "PATCH /v2/subscribers/{subscriberId}/preferences/bulk",
        "GET /v2/subscribers/{subscriberId}/subscriptions",
        "GET /v2/topics",
        "POST /v2/topics",
        "DELETE /v2/topics/{topicKey}",
        "GET /v2/topics/{topicKey}",
        "PATCH /v2/topics/{topicKey}",
        "DELETE /v2/topics/{topicKey}/subscriptions",
        "GET /v2/topics/{topicKey}/subscriptions",
        "POST /v2/topics/{topicKey}/subscriptions",
        "GET /v2/workflows",
        "POST /v2/workflows",
        "DELETE /v2/workflows/{workflowId}",
        "GET /v2/workflows/{workflowId}",
        "PATCH /v2/workflows/{workflowId}",
        "PUT /v2/workflows/{workflowId}",
        "POST /v2/workflows/{workflowId}/duplicate",
        "POST /v2/workflows/{workflowId}/step/{stepId}/preview",
        "GET /v2/workflows/{workflowId}/steps/{stepId}",
    }
)
