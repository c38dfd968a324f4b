import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Time } from "../../../ui/time.tsx";
import { BASE } from "../../addresses.ts";
import { texts } from "../../texts/sign-in.ts";
import { useFragment, useMethods } from "../sign-in/methods.ts";
import { NewMemberForm } from "../sign-in/new-member-form.tsx";
import { OidcLink } from "../sign-in/sign-in-form.tsx";
import { SignInFrame } from "../sign-in/sign-in-frame.tsx";

const words = texts.invitation;

/** Who invites to what, and becoming a member. */
export default function InvitationPage() {
  const token = useFragment();
  const methods = useMethods();
  const invitation = useLoaded(token, async (signal) =>
    dataOf(await api.POST("/v1/auth/invitation", { body: { token }, signal })),
  );
  const error = invitation.error ?? methods.error;
  if (error) {
    return (
      <SignInFrame title={words.over} lead={words.overHint}>
        <Problem error={error} />
        <ButtonLink href={`${BASE}/sign-in`}>{texts.toSignIn}</ButtonLink>
      </SignInFrame>
    );
  }
  if (!invitation.data || !methods.data) {
    return (
      <SignInFrame title={words.title}>
        <Loading />
      </SignInFrame>
    );
  }
  return (
    <SignInFrame title={words.title} lead={sentenceOf(invitation.data)}>
      <Facts invitation={invitation.data} />
      <NewMemberForm
        hasPassword={methods.data.passwords}
        submit={words.submit}
        onSubmit={({ email: _, ...member }) => api.POST("/v1/auth/invitation/accept", { body: { token, ...member } })}
      />
      {methods.data.oidc && <p class="sign-in-or small quiet">{texts.or}</p>}
      {methods.data.oidc && <OidcLink oidc={methods.data.oidc} kind="plain" />}
    </SignInFrame>
  );
}

type Invitation = components["schemas"]["InvitationDetails"];

function sentenceOf({ invitedBy, organization }: Invitation): string {
  return invitedBy ? words.invites(invitedBy.name, organization) : words.invited(organization);
}

function Facts({ invitation }: { invitation: Invitation }) {
  const others = Object.keys(invitation.environmentRoles).length;
  return (
    <KeyValues
      values={[
        [words.as, invitation.email],
        [
          words.role,
          <>
            {words.roles[invitation.role]}
            {others > 0 && <div class="small quiet">{words.differs(others)}</div>}
          </>,
        ],
        [words.expires, <Time key="expires" at={invitation.expiresAt} />],
      ]}
    />
  );
}
