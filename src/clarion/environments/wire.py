"""Shapes of environments and keys."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self, TypeVar

from msgspec import UNSET, Meta, UnsetType, field
from msgspec.structs import replace

from clarion.clock import iso_text
from clarion.environments.model import ApiKey, Environment
from clarion.environments.options import DataKind, EnvironmentOptions, MailOptions
from clarion.errors import Invalid, Problem
from clarion.http.wire import (
    CheckedText,
    DateTimeText,
    IdText,
    MomentText,
    NameText,
    Timezone,
    Wire,
    changes_of,
    given,
    one_of,
)
from clarion.ids import EnvironmentId, id_base62, id_text
from clarion.replies.options import ReplyOptions
from clarion.settings.model import Settings
from clarion.settings.rate_limits import MAX_BURST, MAX_PER_SECOND, LimitCategory, RateLimit
from clarion.tracking.model import TrackingOptions
from clarion.vocabulary import Scope

K = TypeVar("K")
V = TypeVar("V")


class EnvironmentName(NameText):
    __slots__ = ()
    EXAMPLE = "Staging"


class Color(CheckedText):
    __slots__ = ()
    RULE = "must be a color such as #2f6fed"
    EXAMPLE = "#2f6fed"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return re.fullmatch("#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})", text) is not None


class EnvironmentType(StrEnum):
    DEV = "dev"
    PROD = "prod"


class RateLimitShape(Wire):
    """How many requests are allowed, on average and at once."""

    per_second: Annotated[float, Meta(gt=0, le=MAX_PER_SECOND)]
    """How many requests per second are allowed on average."""
    burst: Annotated[int, Meta(ge=1, le=MAX_BURST)] | UnsetType = UNSET
    """How many requests are allowed at once; by default those of one second."""

    @classmethod
    def of(cls, limit: RateLimit) -> Self:
        return cls(per_second=limit.per_second, burst=UNSET if limit.burst is None else limit.burst)

    def limit(self) -> RateLimit:
        return RateLimit(per_second=self.per_second, burst=None if isinstance(self.burst, UnsetType) else self.burst)


class HostName(CheckedText):
    __slots__ = ()
    RULE = "must be a host name such as links.example.com, without a scheme, a port or a path"
    EXAMPLE = "links.example.com"

    @classmethod
    def accepts(cls, text: str) -> bool:
        labels = text.split(".")
        return len(text) <= 253 and all(
            re.fullmatch("[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?", one) for one in labels
        )


class EnvironmentTrackingOut(Wire):
    """What is tracked of e-mails, unless their workflow says otherwise."""

    opens: bool
    """Whether opens are tracked."""
    clicks: bool
    """Whether clicks on links are tracked."""
    domain: str | UnsetType = UNSET
    """The host of links; absent: that of the public address."""


class EnvironmentTrackingIn(Wire):
    """What is tracked of e-mails, unless their workflow says otherwise; the members that are sent change."""

    opens: bool | UnsetType = UNSET
    """Whether opens are tracked; false at first."""
    clicks: bool | UnsetType = UNSET
    """Whether clicks on links are tracked; false at first."""
    domain: HostName | UnsetType | None = UNSET
    """The host of links: another name of the public address, which is checked. Null: that of the public address."""

    def overlay(self, before: TrackingOptions) -> TrackingOptions:
        sent = changes_of(self, "opens", "clicks", "domain")
        if sent.get("domain"):
            sent["domain"] = str(sent["domain"]).lower()
        return replace(before, **sent)


class RepliesOut(Wire):
    """Whether e-mails ask for replies, and where those go."""

    enabled: bool
    """Whether e-mails have an address for replies."""
    domain: str | UnsetType = UNSET
    """The host of that address."""


class RepliesIn(Wire):
    """Whether e-mails ask for replies, and where those go; the members that are sent change."""

    enabled: bool | UnsetType = UNSET
    """Whether e-mails have an address for replies; false at first."""
    domain: HostName | UnsetType | None = UNSET
    """The host of that address, whose mail a provider hands over; null clears it."""

    def overlay(self, before: ReplyOptions) -> ReplyOptions:
        sent = changes_of(self, "enabled", "domain")
        if sent.get("domain"):
            sent["domain"] = str(sent["domain"]).lower()
        after = replace(before, **sent)
        if after.enabled and after.domain is None:
            raise Invalid.field("replies.domain", "is required: replies need an address whose mail comes in")
        return after


class EnvironmentOut(Wire):
    id: str = field(name="_id")
    name: str
    """What people call the environment."""
    organization_id: str = field(name="_organizationId")
    parent_id: str | UnsetType = field(name="_parentId", default=UNSET)
    """The `_id` of the environment that it was made from."""
    identifier: str
    """The public identifier, by which inboxes name the environment."""
    type: Annotated[str, one_of(EnvironmentType)]
    """Whether it is for development or production."""
    slug: str
    """A readable name that ends with the id."""
    color: str | UnsetType = UNSET
    timezone: str | UnsetType = UNSET
    """The time zone of subscribers who have none; absent is UTC."""
    limits: dict[LimitCategory, RateLimitShape]
    """The rate limits that the environment set itself, by what they count."""
    retention_days: dict[DataKind, int]
    """For how many days the environment keeps data, by its kind, where it set that itself."""
    subscribers_create_topics: bool
    """Whether people make topics by subscribing to them in their inbox."""
    tracking: EnvironmentTrackingOut
    """What is tracked of e-mails."""
    replies: RepliesOut
    """Whether e-mails ask for replies, and where those go."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, environment: Environment) -> Self:
        return cls(
            id=id_text(environment.id),
            name=environment.name,
            organization_id=id_text(environment.organization_id),
            parent_id=id_text(environment.parent_id) if environment.parent_id else UNSET,
            identifier=environment.identifier,
            type=environment.kind,
            slug=f"{environment.kind}_env_{id_base62(environment.id)}",
            color=given(environment.options.color),
            timezone=given(environment.timezone),
            limits={one: RateLimitShape.of(limit) for one, limit in environment.options.limits.items()},
            retention_days=environment.options.retention_days,
            subscribers_create_topics=environment.options.subscribers_create_topics,
            tracking=_tracking_out(environment.mail.tracking),
            replies=RepliesOut(enabled=environment.mail.replies.enabled, domain=given(environment.mail.replies.domain)),
            created_at=iso_text(environment.created_at),
            updated_at=iso_text(environment.updated_at),
        )


class EnvironmentPatch(Wire):
    """`timezone` is that of subscribers who have none; null means UTC.

    `identifier` cannot change, because pages with an inbox have it; it may be sent as it is.

    Of `limits` and `retentionDays` the members that are sent change; null takes back what the environment set, so that
    the settings of the installation apply.
    """

    name: EnvironmentName | UnsetType = UNSET
    """What people call the environment."""
    color: Color | UnsetType | None = UNSET
    """The color that people see the environment in; null clears it."""
    parent_id: IdText | UnsetType | None = UNSET
    """The `_id` of the environment that it comes from; null clears it."""
    identifier: str | UnsetType = UNSET
    """The public identifier; it cannot change, and may only be sent as it is."""
    timezone: Timezone | UnsetType | None = UNSET
    """The time zone of subscribers who have none; null is UTC."""
    limits: dict[LimitCategory, RateLimitShape | None] | UnsetType = UNSET
    """The rate limits to change, by what they count; null takes one back."""
    retention_days: dict[DataKind, Annotated[int, Meta(ge=1, le=36_500)] | None] | UnsetType = UNSET
    """For how many days data is kept, by its kind; null takes one back."""
    subscribers_create_topics: bool | UnsetType = UNSET
    """Whether people make topics by subscribing to them in their inbox; true at first."""
    tracking: EnvironmentTrackingIn | UnsetType | None = UNSET
    """What is tracked of e-mails; null switches all of it off."""
    replies: RepliesIn | UnsetType | None = UNSET
    """Whether e-mails ask for replies, and where those go; null switches that off."""

    def fields(self, before: Environment, settings: Settings) -> dict[str, Any]:
        """The fields of the environment with what the caller sent."""
        sent: dict[str, Any] = changes_of(self, "name", "timezone")
        fields: dict[str, Any] = {name: _text(value) for name, value in sent.items()}
        if not isinstance(self.parent_id, UnsetType):
            fields["parent_id"] = None if self.parent_id is None else EnvironmentId(self.parent_id.id)
        return fields | {"options": self.options(before.options, settings), "mail": self.mail(before.mail, settings)}

    def mail(self, before: MailOptions, settings: Settings) -> MailOptions:
        """The options of e-mails with what the caller sent; raises Invalid if they need what the installation lacks."""
        tracking = self._overlay_tracking(before.tracking)
        if problems := _find_tracking_problems(tracking, before.tracking, settings):
            raise Invalid(problems)
        return MailOptions(tracking=tracking, replies=self._overlay_replies(before.replies))

    def options(self, before: EnvironmentOptions, settings: Settings) -> EnvironmentOptions:
        """The options with what the caller sent; raises Invalid if they go beyond what the installation allows."""
        limits = {} if isinstance(self.limits, UnsetType) else self.limits
        days = {} if isinstance(self.retention_days, UnsetType) else self.retention_days
        if problems := _find_limit_problems(limits, settings) | _find_retention_problems(days, settings):
            raise Invalid(problems)
        return EnvironmentOptions(
            limits=_overlay(
                before.limits, {one: None if value is None else value.limit() for one, value in limits.items()}
            ),
            retention_days=_overlay(before.retention_days, days),
            subscribers_create_topics=(
                before.subscribers_create_topics
                if isinstance(self.subscribers_create_topics, UnsetType)
                else self.subscribers_create_topics
            ),
            color=before.color if isinstance(self.color, UnsetType) else _text(self.color),
        )

    def _overlay_replies(self, before: ReplyOptions) -> ReplyOptions:
        if isinstance(self.replies, UnsetType):
            return before
        return ReplyOptions() if self.replies is None else self.replies.overlay(before)

    def _overlay_tracking(self, before: TrackingOptions) -> TrackingOptions:
        if isinstance(self.tracking, UnsetType):
            return before
        return TrackingOptions() if self.tracking is None else self.tracking.overlay(before)


def _find_limit_problems(
    limits: Mapping[LimitCategory, RateLimitShape | None], settings: Settings
) -> dict[str, list[Problem]]:
    problems = {}
    for category, shape in limits.items():
        ceiling = settings.limit_ceilings.get(category)
        if shape is not None and ceiling is not None and shape.limit().exceeds(ceiling):
            most = f"{ceiling.per_second:g} a second and {ceiling.capacity:g} at once"
            message = f"must be at most {most}: the installation allows no more (CLARION_MAX_RATE_LIMITS)"
            problems[f"limits.{category}"] = [Problem(message, shape.per_second)]
    return problems


def _find_retention_problems(days: Mapping[DataKind, int | None], settings: Settings) -> dict[str, list[Problem]]:
    problems = {}
    for kind, wanted in days.items():
        least, most = settings.retention_range(kind)
        if wanted is not None and not least <= wanted <= most:
            message = (
                f"must be between {least} and {most}: the installation allows no other "
                "(CLARION_MIN_RETENTION, CLARION_MAX_RETENTION)"
            )
            problems[f"retentionDays.{kind}"] = [Problem(message, wanted)]
    return problems


def _find_tracking_problems(
    wanted: TrackingOptions, before: TrackingOptions, settings: Settings
) -> dict[str, list[Problem]]:
    if wanted in (before, TrackingOptions()) or settings.public_url is not None:
        return {}
    message = "cannot be tracked: links need the public address of the installation (CLARION_PUBLIC_URL)"
    return {"tracking": [Problem(message)]}


def _tracking_out(options: TrackingOptions) -> EnvironmentTrackingOut:
    return EnvironmentTrackingOut(opens=options.opens, clicks=options.clicks, domain=given(options.domain))


def _text(value: str | None) -> str | None:
    return None if value is None else str(value)


def _overlay(before: dict[K, V], changes: Mapping[K, V | None]) -> dict[K, V]:
    after = {**before, **changes}
    return {name: value for name, value in after.items() if value is not None}


KeyName = Annotated[str, Meta(min_length=1, max_length=100)]


class ApiKeyIn(Wire):
    name: KeyName
    """What people call the key."""
    scopes: Annotated[list[Scope], Meta(min_length=1)] = field(default_factory=lambda: [Scope.ALL])
    """What the key allows; at most what the caller may do."""
    expires_at: MomentText | UnsetType | None = UNSET
    """When the key stops working; null is never. By default with the key that makes it."""


class ApiKeyPatch(Wire):
    name: KeyName | UnsetType = UNSET
    """What people call the key."""
    expires_at: MomentText | UnsetType | None = UNSET
    """When the key stops working; null is never."""


class ApiKeyOut(Wire):
    """A key without its secret."""

    id: str = field(name="_id")
    name: str
    """What people call the key."""
    hint: str
    """The end of the secret, to recognise it by."""
    scopes: list[Scope]
    created_at: DateTimeText
    expires_at: DateTimeText | UnsetType = UNSET
    """When the key stops working; absent is never."""
    last_used_at: DateTimeText | UnsetType = UNSET
    """When the key was last used; absent if never."""

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        return cls(
            id=id_text(key.id),
            name=key.name,
            hint=key.hint,
            scopes=sorted(key.scopes),
            created_at=iso_text(key.created_at),
            expires_at=UNSET if key.expires_at is None else iso_text(key.expires_at),
            last_used_at=UNSET if key.last_used_at is None else iso_text(key.last_used_at),
        )


class NewApiKeyOut(Wire):
    """A new key; its secret is shown here and never again."""

    key: str
    """The secret, for `Authorization: ApiKey <key>`; shown here and never again."""
    api_key: ApiKeyOut
    """What is stored of the key."""


class ScopeInfoOut(Wire):
    """A scope of API keys, and what it allows."""

    scope: Scope
    """The name of the scope."""
    description: str
    """What it allows, in a sentence."""


class HealthPart(Wire):
    status: Literal["up"]
    """Always `up`; a part that is down makes the response an error."""
    version: str | UnsetType = UNSET
    """The version of Clarion, where the part is Clarion itself."""


class HealthOut(Wire):
    status: Literal["ok"]
    """Always `ok`; otherwise the response is an error."""
    info: dict[str, HealthPart]
    """The parts that work."""
    error: dict[str, HealthPart]
    """Always empty; a part that does not work makes the response an error."""
    details: dict[str, HealthPart]
    """All parts."""
