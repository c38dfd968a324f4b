"""Shapes of segments."""

from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.http.pages import CursorQuery
from clarion.http.wire import DateTimeText, IdText, SubscriberKeyText, Wire, given
from clarion.ids import id_text
from clarion.schedules.store import NamingSchedule
from clarion.segments.model import Segment
from clarion.segments.preview import SegmentPreview
from clarion.segments.usage import SegmentTrigger
from clarion.subscribers.model import Subscriber
from clarion.workflows.model import VersionedWorkflow

Condition = dict[str, Any] | bool
"""Checked by `check_condition`."""
SegmentName = Annotated[str, Meta(min_length=1, max_length=255)]
DescriptionText = Annotated[str, Meta(max_length=1000)]


class SegmentKeyText(SubscriberKeyText):
    __slots__ = ()
    EXAMPLE = "gold-members"


class SegmentPatch(Wire):
    """Omitted stays as it is, null clears."""

    name: SegmentName | UnsetType = UNSET
    """What people call the segment."""
    description: DescriptionText | UnsetType | None = UNSET
    """Who is meant; null clears it."""
    condition: Condition | UnsetType = UNSET
    """JSON Logic over the variables of a person, such as `subscriber.data.plan`."""


class SegmentIn(Wire):
    key: SegmentKeyText
    """Your own id of the segment, by which triggers name it."""
    name: SegmentName
    """What people call the segment."""
    description: DescriptionText | UnsetType | None = UNSET
    """Who is meant."""
    condition: Condition
    """JSON Logic over the variables of a person, such as `subscriber.data.plan`."""


class SegmentQuery(CursorQuery):
    search: str | None = None
    """Only segments with this text in their key or name, in any case."""


class SegmentOut(Wire):
    id: str = field(name="_id")
    key: str
    """Your own id of the segment."""
    name: str
    """What people call the segment."""
    description: str | UnsetType = UNSET
    """Who is meant."""
    condition: Condition
    """JSON Logic over the variables of a person."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, segment: Segment) -> Self:
        return cls(
            id=id_text(segment.id),
            key=segment.key,
            name=segment.name,
            description=given(segment.description),
            condition=segment.condition,
            created_at=iso_text(segment.created_at),
            updated_at=iso_text(segment.updated_at),
        )


class SegmentPreviewIn(Wire):
    condition: Condition
    """JSON Logic over the variables of a person; it need not be saved."""
    after: IdText | UnsetType = UNSET
    """The `next` of the preview before, to count those who come behind."""


class SegmentPreviewQuery(Wire):
    after: IdText | None = None
    """The `next` of the preview before, to count those who come behind."""


class SegmentPersonOut(Wire):
    id: str = field(name="_id")
    subscriber_id: str
    first_name: str | None
    last_name: str | None
    email: str | None

    @classmethod
    def of(cls, person: Subscriber) -> Self:
        return cls(
            id=id_text(person.id),
            subscriber_id=person.key,
            first_name=person.first_name,
            last_name=person.last_name,
            email=person.email,
        )


class SegmentPreviewOut(Wire):
    count: int
    """How many people are in the segment, of those who were looked at."""
    sample: list[SegmentPersonOut]
    """Up to ten of them, those who exist for longest first."""
    next: str | None
    """Where to go on counting: people behind it were not looked at. Null: everybody was, and `count` is all."""

    @classmethod
    def of(cls, preview: SegmentPreview) -> Self:
        return cls(
            count=preview.count,
            sample=[SegmentPersonOut.of(one) for one in preview.sample],
            next=None if preview.position is None else id_text(preview.position),
        )


class SegmentUserOut(Wire):
    name: str
    """What people call the workflow."""
    workflow_id: str

    @classmethod
    def of(cls, user: VersionedWorkflow) -> Self:
        return cls(name=user.workflow.name, workflow_id=user.workflow.key)


class SegmentTriggerOut(Wire):
    transaction_id: str
    at: DateTimeText
    """When its runs begin."""

    @classmethod
    def of(cls, trigger: SegmentTrigger) -> Self:
        return cls(transaction_id=trigger.transaction_key, at=iso_text(trigger.at))


class SegmentScheduleOut(Wire):
    identifier: str
    """Your own id of the schedule."""
    name: str
    """What people call the schedule."""

    @classmethod
    def of(cls, schedule: NamingSchedule) -> Self:
        return cls(identifier=schedule.key, name=schedule.name)


class SegmentUsageOut(Wire):
    workflows: list[SegmentUserOut]
    """The workflows with a condition that refers to the segment: while there are any, it cannot be deleted."""
    schedules: list[SegmentScheduleOut]
    """The schedules for the segment: while there are any, it cannot be deleted."""
    triggers: list[SegmentTriggerOut]
    """Up to 100 triggers that wait for their moment, or have not come to all people of the segment yet.

    They have its condition of the moment when they were accepted.
    """
