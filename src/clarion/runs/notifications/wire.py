"""Shapes of triggered events."""

from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.contexts.wire import ContextKeysFilter
from clarion.http.pages import PageNumber
from clarion.http.wire import DateTimeText, JsonText, MomentText, OriginText, Wire, given
from clarion.ids import OrganizationId, id_text
from clarion.jobs.details import DetailSource, DetailStatus, ExecutionDetail
from clarion.jsontext import json_text
from clarion.providers.builtin import BuiltinNames
from clarion.runs.notifications.model import EventChannel, EventJob, NotificationDetails, event_channel_of, step_types
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import JobStatus, Severity, StepType
from clarion.workflows.model import Step, Workflow, WorkflowVersion

_NO_PROVIDER = "svc"


class EventQuery(Wire):
    channels: tuple[EventChannel, ...] = ()
    """Only runs of workflows with a step of one of these channels or types."""
    templates: tuple[str, ...] = ()
    """Only runs of these workflows, by their `_id`s."""
    emails: tuple[str, ...] = ()
    """Only runs for people with one of these e-mail addresses."""
    search: str | None = None
    """Only runs for people with this `subscriberId`, or whose e-mail address contains this text."""
    subscriber_ids: tuple[str, ...] = ()
    """Only runs for the people with one of these `subscriberId`s."""
    page: PageNumber = 0
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    transaction_id: tuple[str, ...] = ()
    topic_key: str | None = None
    context_keys: ContextKeysFilter | None = None
    """Only runs of exactly this context, as `type:id` texts in any order; one empty text is for none."""
    after: MomentText | None = None
    """Only runs created at this moment or later; by default since the retention horizon."""
    before: MomentText | None = None
    """Only runs created at this moment or earlier."""


class ExecutionDetailOut(Wire):
    id: str = field(name="_id")
    created_at: DateTimeText
    """When it happened."""
    status: DetailStatus
    """Whether it went well."""
    detail: str
    is_retry: bool
    """Whether it belongs to a second or later attempt."""
    is_test: bool
    """Whether it belongs to a test message."""
    provider_id: str
    """The provider that it is about; without one, that of the in-app channel."""
    raw: JsonText | UnsetType = UNSET
    """Details of what happened."""
    source: DetailSource
    """Which part of the run it comes from."""

    @classmethod
    def of(cls, detail: ExecutionDetail, names: BuiltinNames) -> Self:
        return cls(
            id=detail.id,
            created_at=iso_text(detail.at),
            status=detail.status,
            detail=detail.detail,
            is_retry=detail.is_retry,
            is_test=detail.is_test,
            provider_id=names.to_wire(detail.provider_id or _NO_PROVIDER),
            raw=UNSET if detail.raw is None else json_text(detail.raw),
            source=detail.source,
        )


class EventStepTemplateOut(Wire):
    type: StepType
    """What the step does."""
    name: str
    """What people call the step."""
    content: str
    """The body of the step as it is written, with its variables."""


class EventStepOut(Wire):
    """A step of the workflow version that the run uses."""

    id: str = field(name="_id")
    template_id: str = field(name="_templateId")
    """The `_id` of the step."""
    parent_id: str | None = field(name="_parentId")
    """The `_id` of the step before; null for the first one."""
    step_id: str
    name: str
    """What people call the step."""
    active: bool
    """Whether runs do the step."""
    filters: list[dict[str, Any]]
    """Always empty; `GET /v2/workflows/{workflowId}` has the conditions."""
    template: EventStepTemplateOut
    """The step as older clients expect it."""
    control_variables: dict[str, Any]
    """The content and the settings of the step."""

    @classmethod
    def of(cls, step: Step, previous: Step | None) -> Self:
        body = step.controls.get("body")
        return cls(
            id=step.id,
            template_id=step.id,
            parent_id=None if previous is None else previous.id,
            step_id=step.step_id,
            name=step.name,
            active=step.active,
            filters=[],
            template=EventStepTemplateOut(
                type=step.type, name=step.name, content=body if isinstance(body, str) else ""
            ),
            control_variables=step.controls,
        )


class JobOut(Wire):
    id: str = field(name="_id")
    type: EventChannel
    """What the step does."""
    digest: dict[str, Any] | UnsetType = UNSET
    """What a digest or delay waits for, and its events."""
    execution_details: list[ExecutionDetailOut]
    step: EventStepOut
    """The step of the workflow that the job does."""
    overrides: dict[str, Any] | UnsetType = UNSET
    payload: dict[str, Any]
    provider_id: str
    """The provider that sends it; without one, that of the in-app channel."""
    status: JobStatus
    """What has become of the job."""
    updated_at: DateTimeText

    @classmethod
    def of(cls, job: EventJob, event: NotificationDetails, names: BuiltinNames) -> Self:
        return cls(
            id=id_text(job.id),
            type=event_channel_of(job.type),
            digest=given(job.digest),
            execution_details=[ExecutionDetailOut.of(one, names) for one in job.details],
            step=_step(event.version, job.step),
            overrides=given(event.origin.overrides),
            payload=event.origin.payload,
            provider_id=names.to_wire(job.provider_id or _NO_PROVIDER),
            status=job.status,
            updated_at=iso_text(job.updated_at),
        )


class EventSubscriberOut(Wire):
    id: str = field(name="_id")
    subscriber_id: str
    first_name: str | UnsetType = UNSET
    last_name: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    phone: str | UnsetType = UNSET

    @classmethod
    def of(cls, subscriber: Subscriber) -> Self:
        return cls(
            id=id_text(subscriber.id),
            subscriber_id=subscriber.key,
            first_name=given(subscriber.first_name),
            last_name=given(subscriber.last_name),
            email=given(subscriber.email),
            phone=given(subscriber.phone),
        )


class EventTriggerOut(Wire):
    type: Literal["event"]
    """Always `event`."""
    identifier: str
    """The identifier of the workflow."""
    variables: list[dict[str, Any]]
    """Always empty; the payload schema of the workflow has the variables."""


class EventTemplateOut(Wire):
    id: str = field(name="_id")
    name: str
    """What people call the workflow."""
    origin: OriginText
    triggers: list[EventTriggerOut]
    """How the workflow is triggered."""

    @classmethod
    def of(cls, workflow: Workflow, names: BuiltinNames) -> Self:
        return cls(
            id=id_text(workflow.id),
            name=workflow.name,
            origin=names.origin,
            triggers=[EventTriggerOut(type="event", identifier=workflow.key, variables=[])],
        )


class EventTopicOut(Wire):
    topic_id: str = field(name="_topicId")
    topic_key: str


class EventOut(Wire):
    id: str = field(name="_id")
    environment_id: str = field(name="_environmentId")
    organization_id: str = field(name="_organizationId")
    subscriber_id: str = field(name="_subscriberId")
    template_id: str = field(name="_templateId")
    digested_notification_id: str | UnsetType = field(name="_digestedNotificationId", default=UNSET)
    """The `_id` of the run whose digest took the event in; absent if none did."""
    transaction_id: str
    channels: list[EventChannel]
    """The channels and types of the steps."""
    subscriber: EventSubscriberOut
    template: EventTemplateOut
    """The workflow."""
    jobs: list[JobOut]
    """The steps of the run that were reached or planned, in their order."""
    payload: dict[str, Any]
    to: dict[str, Any]
    """The recipient as the trigger named them."""
    tags: list[str]
    topics: list[EventTopicOut]
    """The topics through which the person was reached; empty if they were named themselves."""
    context_keys: list[str]
    """The context that it belongs to, as sorted `type:id` texts; empty without a context."""
    severity: Severity
    critical: bool
    warnings: list[str] | UnsetType = UNSET
    """What the response to the trigger warned of, such as members that nothing reads; absent if nothing."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, event: NotificationDetails, organization_id: OrganizationId, names: BuiltinNames) -> Self:
        run, workflow = event.notification, event.workflow
        return cls(
            id=id_text(run.id),
            environment_id=id_text(run.environment_id),
            organization_id=id_text(organization_id),
            subscriber_id=id_text(run.subscriber_id),
            template_id=id_text(run.workflow_id),
            digested_notification_id=UNSET if run.digested_into is None else id_text(run.digested_into),
            transaction_id=event.origin.transaction_key,
            channels=list(dict.fromkeys(event_channel_of(kind) for kind in step_types(run.step_types))),
            subscriber=EventSubscriberOut.of(event.subscriber),
            template=EventTemplateOut.of(workflow, names),
            jobs=[JobOut.of(job, event, names) for job in event.jobs],
            payload=event.origin.payload,
            to=run.recipient if isinstance(run.recipient, dict) else {"subscriberId": event.subscriber.key},
            tags=workflow.tags,
            topics=[EventTopicOut(topic_id=one["_topicId"], topic_key=one["topicKey"]) for one in run.topics],
            context_keys=list(event.origin.context_keys),
            severity=workflow.severity,
            critical=workflow.is_critical,
            warnings=event.origin.warnings or UNSET,
            created_at=iso_text(run.created_at),
            updated_at=iso_text(run.updated_at),
        )


class EventPage(Wire):
    """A page of events: nothing is counted, and `pageSize` is the number returned."""

    has_more: bool
    """Whether there is another page."""
    data: list[EventOut]
    page_size: int
    page: int


def _step(version: WorkflowVersion, position: int) -> EventStepOut:
    return EventStepOut.of(version.steps[position], version.steps[position - 1] if position else None)
