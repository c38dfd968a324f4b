"""The records of a unit of work: runs with their jobs, and the messages they make."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.answers.links import NAME as ANSWERS
from clarion.answers.links import answer_variables
from clarion.clock import Millis
from clarion.conditions import ConditionResult
from clarion.conditions.lazy import LazyText
from clarion.content.environment import NO_CONTENT, ContentSource, EnvironmentContent
from clarion.content.layouts.model import PinnedLayout
from clarion.contexts.model import keys_of
from clarion.ids import EndpointId, JobId, LayoutId, MessageId, NotificationId, id_text
from clarion.jobs.model import Job
from clarion.preferences.model import Layers
from clarion.preferences.unsubscribe.targets import LinkTarget, PersonalLinks
from clarion.segments.membership import PersonSegments
from clarion.subscribers.addresses.targets import EndpointPlace
from clarion.subscribers.model import ChannelEntry, Subscriber
from clarion.templates.texts import NO_TEXTS, TextCatalog
from clarion.tracking.model import Tracking
from clarion.triggers.model import Trigger
from clarion.vocabulary import Channel, MessageStatus, Severity, StepType
from clarion.workflows.http_requests import HttpRequest
from clarion.workflows.model import WITH_MARKS, Step, Workflow, WorkflowVersion
from clarion.workflows.tree import list_questions
from clarion.workflows.variables import count_events, digest_variables, person_variables, workflow_variables

HIDES_OWN = "hidesOwn"
"""In a digest: the event of its run counts, and is not among those that are shown."""


class NewMessage(Struct, kw_only=True):
    """A message to be written."""

    id: MessageId
    job_id: JobId
    step_id: bytes
    channel: Channel
    content: str
    provider_id: str | None = None
    status: MessageStatus = MessageStatus.SENT
    subject: str | None = None
    title: str | None = None
    email: str | None = None
    email_options: dict[str, Any] | None = None
    phone: str | None = None
    webhook_url: str | None = None
    endpoint_id: EndpointId | None = None
    device_tokens: list[str] | None = None
    cta: dict[str, Any] | None = None
    avatar: str | None = None
    data: dict[str, Any] | None = None
    severity: Severity = Severity.NONE
    delivered_at: Millis | None = None
    error_text: str | None = None
    tracking: Tracking | None = None
    unsubscribe_url: str | None = None


class NewRequest(Struct, frozen=True, kw_only=True):
    """The request of an HTTP step, to be written until it is answered."""

    job_id: JobId
    request: HttpRequest


class Run(Struct, kw_only=True):
    """A workflow on its way for one person."""

    id: NotificationId
    trigger: Trigger
    workflow: Workflow
    version: WorkflowVersion
    subscriber: Subscriber
    jobs: list[Job]
    own_layers: Layers = ()
    """What the person switched, from the strongest to the weakest."""
    channels: list[ChannelEntry] = []
    endpoints: list[EndpointPlace] = []
    """Those of exactly the contexts of the trigger."""
    topics: list[dict[str, str]] = []
    recipient: dict[str, Any] | None = None
    actor: Subscriber | None = None
    content: EnvironmentContent = NO_CONTENT
    texts: TextCatalog = NO_TEXTS
    """The translated texts of the workflow for the person."""
    layout_texts: Mapping[LayoutId, TextCatalog] = {}
    """Those of the layouts that refer to texts."""
    layouts: Mapping[str, PinnedLayout] = {}
    """Those that its steps and its trigger name and that exist, by the names that they use."""
    segments: PersonSegments | None = None
    """None: its steps refer to none."""
    links: PersonalLinks | None = None
    """None: this service has no public address."""
    is_new: bool = False
    is_moved: bool = False
    """Whether it goes on with another version than it is stored with."""
    dropped_jobs: list[JobId] = []
    """Those of steps that it does not come to any more, because it was moved."""
    digested_into: NotificationId | None = None
    messages: list[NewMessage] = []
    requests: list[NewRequest] = []

    def find_segment(self, key: str, now: Millis) -> ConditionResult:
        """Whether the person is in a segment at this moment."""
        if self.segments is None:
            return ConditionResult(passed=False, explanation={"passed": False, "problem": "it was not read"})
        return self.segments.decide(key, now)

    @property
    def is_canceled(self) -> bool:
        """Whether its trigger was canceled, and it is not needed for events of others."""
        return self.trigger.is_canceled and not self.carries_others

    def is_expired(self, now: Millis) -> bool:
        """Whether its trigger has expired, and it is not needed for events of others."""
        return self.trigger.is_expired(now) and not self.carries_others

    @property
    def carries_others(self) -> bool:
        """Whether a digest of this run holds events of other triggers."""
        own = id_text(self.trigger.id)
        return any(
            count_events(job.digest) > sum(event["id"] == own for event in job.digest["events"])
            for job in self.jobs
            if job.digest and "events" in job.digest
        )

    def drop_own_event(self) -> None:
        """Leave only the events of others in its digests."""
        own = id_text(self.trigger.id)
        for job in self.jobs:
            if job.digest and "events" in job.digest:
                events = [event for event in job.digest["events"] if event["id"] != own]
                own_count = len(job.digest["events"]) - len(events) + bool(job.digest.get(HIDES_OWN))
                job.outputs = {"events": events, "eventCount": count_events(job.digest) - own_count}
                job.digest = {name: one for name, one in job.digest.items() if name != HIDES_OWN} | job.outputs
                job.changed = job.has_events = True

    @property
    def locale(self) -> str:
        """The language of the person, else that of the organization."""
        return self.subscriber.locale or self.content.default_locale

    def step_of(self, job: Job) -> Step:
        return self.version.steps[job.step]

    def find_previous(self, job: Job, reference: str) -> dict[str, Any] | None:
        """The outputs of an in-app or e-mail step before a job, by its stepId or `_id`; None if there is none such."""
        step = self.version.find_step(reference)
        earlier = {one.id for one in self.version.steps[: job.step] if one.type in WITH_MARKS}
        if step is None or step.id not in earlier:
            return None
        found = (other for other in self.jobs if self.step_of(other).id == step.id)
        return next((other.outputs or {} for other in found), {})


def variables_of(run: Run) -> dict[str, Any]:
    """What templates and conditions of a run see."""
    return {
        "payload": run.trigger.payload,
        "context": run.trigger.contexts or {},
        "subscriber": person_variables(run.subscriber),
        "actor": None if run.actor is None else person_variables(run.actor),
        "workflow": workflow_variables(run.workflow),
        "steps": {run.step_of(job).step_id: job.outputs for job in run.jobs if job.outputs is not None},
        "step": digest_variables(_last_digest(run.jobs)),
        "env": run.content.env,
        "locale": run.locale,
    }


def make_links(source: ContentSource, content: EnvironmentContent) -> PersonalLinks | None:
    """Return what makes the links of messages; None if there are none."""
    if source.public_url is None or content.link_secret is None:
        return None
    return PersonalLinks(source.public_url.rstrip("/"), None if source.makes_samples else content.link_secret)


def make_unsubscribe_url(run: Run, channel: Channel) -> str | None:
    """Return the link to unsubscribe; None if there is none, because the workflow is critical, for example."""
    if run.links is None or run.workflow.is_critical:
        return None
    return run.links.unsubscribe_url(_link_target(run, channel))


def link_variables(run: Run, job: Job, channel: Channel, now: Millis) -> dict[str, Any]:
    """Return the links that texts of a step can have; each is made when a text asks for it."""
    links = run.links
    if links is None:
        return {}
    answers: dict[str, Any] = {}
    if StepType.ASK in run.version.step_types:
        questions = list_questions(run.version.steps, job.step)
        answers = {ANSWERS: answer_variables(links, run.id, run.subscriber.id, questions, now)}
    return answers | {
        "unsubscribe_url": LazyText(lambda: make_unsubscribe_url(run, channel) or ""),
        "preferences_url": LazyText(lambda: links.preferences_url(_link_target(run, channel))),
    }


def _link_target(run: Run, channel: Channel) -> LinkTarget:
    contexts = keys_of(run.trigger.contexts) if run.trigger.contexts else ()
    return LinkTarget(run.subscriber.id, run.workflow.id, channel, contexts)


def _last_digest(jobs: Sequence[Job]) -> Mapping[str, Any] | None:
    return next((job.digest for job in reversed(jobs) if job.digest and "events" in job.digest), None)
