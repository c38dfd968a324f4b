"""Shapes of variables."""

from collections.abc import Collection, Iterable
from typing import Annotated, Literal, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.content.environment import SECRET_MASK
from clarion.environments.variables.actions import VariableChanges
from clarion.environments.variables.model import KEY_RULE, MAX_VALUE, EnvironmentVariable, Use, UseKind, is_key
from clarion.errors import Invalid, Problem
from clarion.http.wire import CheckedText, DateTimeText, IdText, Wire, one_of
from clarion.ids import EnvironmentId, id_text

VariableType = Literal["string"]


class VariableKeyText(CheckedText):
    __slots__ = ()
    RULE = KEY_RULE
    EXAMPLE = "SUPPORT_URL"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return is_key(text)


class VariableValueIn(Wire):
    """The value in one environment."""

    environment_id: IdText = field(name="_environmentId")
    """The `_id` of the environment."""
    value: Annotated[str, Meta(max_length=MAX_VALUE)]
    """What templates of this environment see."""


ValuesIn = list[VariableValueIn]


class VariablePatch(Wire):
    """Values are merged: environments that are not named keep theirs."""

    key: VariableKeyText | UnsetType = UNSET
    """The new key; texts that use the old one then see nothing."""
    type: VariableType | UnsetType = UNSET
    """Always `string`."""
    is_secret: bool | UnsetType = UNSET
    """Whether the values are never shown; false needs new values of all environments that have one."""
    for_credentials: bool | UnsetType = UNSET
    """Whether only credentials of integrations refer to it; false needs new values, as with `isSecret`."""
    values: ValuesIn | UnsetType = UNSET
    """The values to set, one for each environment."""

    def changes(self) -> VariableChanges:
        return VariableChanges(
            key=None if isinstance(self.key, UnsetType) else str(self.key),
            is_secret=None if isinstance(self.is_secret, UnsetType) else self.is_secret,
            for_credentials=None if isinstance(self.for_credentials, UnsetType) else self.for_credentials,
            values=_read_values(self.values),
        )

    @property
    def is_empty(self) -> bool:
        given = (self.key, self.type, self.is_secret, self.for_credentials, self.values)
        return all(isinstance(one, UnsetType) for one in given)


class VariableIn(Wire):
    key: VariableKeyText
    """What texts call it: `{{env.<key>}}`."""
    type: VariableType | UnsetType = UNSET
    """Always `string`."""
    is_secret: bool | UnsetType = UNSET
    """Whether the values are never shown; by default only those for credentials are not."""
    for_credentials: bool = False
    """Whether only credentials of integrations refer to it, and no text; it is secret then."""
    values: ValuesIn | UnsetType = UNSET
    """The values, one for each environment that has one."""

    def changes(self) -> VariableChanges:
        return VariableChanges(
            key=str(self.key),
            is_secret=None if isinstance(self.is_secret, UnsetType) else self.is_secret,
            for_credentials=self.for_credentials,
            values=_read_values(self.values),
        )


def _read_values(given: ValuesIn | UnsetType) -> dict[EnvironmentId, str]:
    values: dict[EnvironmentId, str] = {}
    for number, item in enumerate(() if isinstance(given, UnsetType) else given):
        environment_id = EnvironmentId(item.environment_id.id)
        if environment_id in values:
            problem = Problem("names an environment that was named before", item.environment_id)
            raise Invalid({f"values.{number}._environmentId": [problem]})
        values[environment_id] = item.value
    return values


class VariablesQuery(Wire):
    search: str | None = None
    """Only variables with this text in their key, in any case."""


class VariableValueOut(Wire):
    environment_id: str = field(name="_environmentId")
    """The `_id` of the environment."""
    value: str
    """The value; of a secret variable always `••••••••`."""


class VariableOut(Wire):
    id: str = field(name="_id")
    organization_id: str = field(name="_organizationId")
    key: str
    """What texts call it: `{{env.<key>}}`."""
    type: Annotated[str, one_of(VariableType)]
    """Always `string`."""
    is_secret: bool
    """Whether the values are never shown."""
    for_credentials: bool
    """Whether only credentials of integrations refer to it, and no text."""
    values: list[VariableValueOut]
    """The values in the environments that the caller can read."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, variable: EnvironmentVariable, readable: Collection[EnvironmentId]) -> Self:
        return cls(
            id=id_text(variable.id),
            organization_id=id_text(variable.organization_id),
            key=variable.key,
            type="string",
            is_secret=variable.is_secret,
            for_credentials=variable.for_credentials,
            values=[
                VariableValueOut(environment_id=id_text(place), value=SECRET_MASK if variable.is_secret else value)
                for place, value in sorted(variable.values.items())
                if place in readable
            ],
            created_at=iso_text(variable.created_at),
            updated_at=iso_text(variable.updated_at),
        )


class VariableWorkflowOut(Wire):
    name: str
    """What people call the workflow."""
    workflow_id: str
    """The identifier of the workflow."""


class VariableLayoutOut(Wire):
    name: str
    """What people call the layout."""
    layout_id: str
    """The identifier of the layout."""


class VariableTranslationOut(Wire):
    resource_id: str
    """The identifier of the workflow or layout whose texts they are."""
    locale: str
    """The language of the texts."""


class VariableIntegrationOut(Wire):
    name: str
    """What people call the integration."""
    identifier: str
    """The identifier of the integration."""


class VariableUsageOut(Wire):
    """What refers to the variable, in all environments that the caller can read."""

    workflows: list[VariableWorkflowOut]
    """The workflows with a step that uses the variable."""
    layouts: list[VariableLayoutOut]
    """The layouts that use it."""
    translations: list[VariableTranslationOut]
    """The texts of workflows and layouts that use it."""
    integrations: list[VariableIntegrationOut]
    """The integrations whose credentials refer to it, if the caller may read integrations."""

    @classmethod
    def of(cls, uses: Iterable[Use]) -> Self:
        named: dict[UseKind, list[Use]] = {kind: [] for kind in UseKind}
        for use in dict.fromkeys(uses):
            named[use.kind].append(use)
        translations = named[UseKind.TRANSLATION]
        integrations = named[UseKind.INTEGRATION]
        return cls(
            workflows=[VariableWorkflowOut(name=use.name, workflow_id=use.key) for use in named[UseKind.WORKFLOW]],
            layouts=[VariableLayoutOut(name=use.name, layout_id=use.key) for use in named[UseKind.LAYOUT]],
            translations=[VariableTranslationOut(resource_id=use.key, locale=use.name) for use in translations],
            integrations=[VariableIntegrationOut(name=use.name, identifier=use.key) for use in integrations],
        )
