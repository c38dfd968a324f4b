"""Shapes of how many e-mails were opened, clicked and replied to."""

from msgspec import UNSET, UnsetType, field

from clarion.http.wire import DateTimeText, Wire
from clarion.integrations.health_wire import UsageBucket


class MailUsageItemOut(Wire):
    """The e-mails of one workflow in a bucket of time, each counted once for what happened for the first time then."""

    at: DateTimeText
    """The beginning of the bucket."""
    id: str = field(name="_workflowId")
    """The `_id` of the workflow."""
    workflow_id: str | UnsetType = UNSET
    """The identifier of the workflow; absent if it is deleted."""
    name: str
    """The name of the workflow."""
    opened: int
    """How many e-mails a person opened."""
    clicked: int
    """How many e-mails a person followed a link of."""
    replied: int
    """How many e-mails a person replied to."""


class MailUsageOut(Wire):
    """Reactions to e-mails by bucket and workflow, without empty buckets."""

    after: str
    before: str
    bucket: UsageBucket
    """Whether it is counted by hours or by days."""
    data: list[MailUsageItemOut]
