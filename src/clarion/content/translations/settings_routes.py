"""The languages of the organization, and who is calling: what command lines ask before they read or write texts."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from clarion.audit.model import Action
from clarion.audit.recording import record_request
from clarion.content.environment import OrganizationOptions
from clarion.content.translations.languages import find_options, update_options
from clarion.content.translations.model import AuditedLanguages
from clarion.content.translations.wire import LanguageSettings, TranslationLocale
from clarion.environments.store import lock_organization
from clarion.http.input.unknown import InputWarning
from clarion.http.operation import Call, operation
from clarion.http.wire import Wire, given
from clarion.ids import OrganizationId, id_text
from clarion.vocabulary import Scope

SECTION = "Translations"
MAX_LOCALES = 100


class OrganizationSettings(LanguageSettings):
    remove_novu_branding: bool
    """Always true: nothing that is sent is branded."""


class OrganizationSettingsAnswer(Wire):
    data: OrganizationSettings
    """The settings of the organization."""

    @classmethod
    def of(cls, options: OrganizationOptions) -> "OrganizationSettingsAnswer":
        settings = OrganizationSettings(
            default_locale=options.default_locale, target_locales=options.target_locales, remove_novu_branding=True
        )
        return cls(data=settings)


class OrganizationSettingsPatch(Wire):
    """Omitted stays as it is."""

    default_locale: TranslationLocale | UnsetType = UNSET
    """The language of people who have none, and of texts that are missing in theirs."""
    target_locales: Annotated[list[TranslationLocale], Meta(max_length=MAX_LOCALES)] | UnsetType = UNSET
    """The languages that texts are translated to; they replace all that there are."""
    remove_novu_branding: bool | UnsetType = UNSET
    """Nothing that is sent is branded, so that this changes nothing."""


class CallerOut(Wire):
    """Who is calling: a member, or an API key."""

    id: str
    """The id of the member or API key."""
    type: Literal["member", "apiKey"]
    """What is calling."""
    name: str | UnsetType = UNSET
    """What the member or API key is called."""
    email: str | UnsetType = UNSET
    """The address of the member; absent for API keys."""


class CredentialsCheckAnswer(Wire):
    data: CallerOut
    """Who is calling."""


@operation("GET", "/v1/organizations/settings", scope=Scope.WORKFLOWS_READ)
async def get_organization_settings(call: Call) -> OrganizationSettingsAnswer:
    """Retrieve the languages of the organization."""
    return OrganizationSettingsAnswer.of(await find_options(call.db, call.environment_id))


@operation(
    "PATCH",
    "/v1/organizations/settings",
    scope=Scope.ENVIRONMENTS_WRITE,
    owner=True,
    body=OrganizationSettingsPatch,
)
async def update_organization_settings(call: Call, body: OrganizationSettingsPatch) -> OrganizationSettingsAnswer:
    """Change the languages of the organization, which hold in all of its environments.

    Of members, only owners can do this; an API key needs `organization:reach`.
    """
    await lock_organization(call.db, call.organization_id)
    before = await find_options(call.db, call.environment_id)
    after = before
    if not isinstance(body.default_locale, UnsetType):
        after = replace(after, default_locale=body.default_locale.normal)
    if not isinstance(body.target_locales, UnsetType):
        after = replace(after, target_locales=list(dict.fromkeys(one.normal for one in body.target_locales)))
    if body.remove_novu_branding is False:
        call.warnings.append(InputWarning("removeNovuBranding", "changes nothing: nothing that is sent is branded"))
    if after != before:
        await update_options(call.db, call.organization_id, after)
        await record_request(
            call,
            Action.ORGANIZATION_UPDATE,
            before=_audited(call.organization_id, before),
            after=_audited(call.organization_id, after),
        )
    return OrganizationSettingsAnswer.of(after)


@operation("GET", "/v1/users/me", scope=Scope.WORKFLOWS_READ)
async def check_credentials(call: Call) -> CredentialsCheckAnswer:
    """Check the credentials of a request: who is calling."""
    member = call.caller.member
    if member is not None:
        return CredentialsCheckAnswer(
            data=CallerOut(id=id_text(member.id), type="member", name=member.name, email=member.email)
        )
    return CredentialsCheckAnswer(
        data=CallerOut(id=id_text(call.caller.key_id), type="apiKey", name=given(call.caller.key_name))
    )


def _audited(organization_id: OrganizationId, options: OrganizationOptions) -> AuditedLanguages:
    return AuditedLanguages(
        organization_id=organization_id, default_locale=options.default_locale, target_locales=options.target_locales
    )
