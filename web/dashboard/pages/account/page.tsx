import { KeyValues } from "../../../ui/key-values.tsx";
import { Page } from "../../../ui/page.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/account.ts";
import { texts as team } from "../../texts/team.ts";
import { ChangePassword } from "./change-password.tsx";
import { OwnName } from "./own-name.tsx";
import { OwnSessions } from "./own-sessions.tsx";

export default function AccountPage() {
  const { member, organization } = useSession().me;
  return (
    <Page title={texts.title}>
      <section class="panel stack">
        <h2>{texts.profile}</h2>
        <KeyValues
          values={[
            [texts.email, member.email],
            [texts.organization, <bdi key="organization">{organization.name}</bdi>],
            [texts.role, team.roles[member.role]],
          ]}
        />
        <OwnName />
      </section>
      <section class="panel stack">
        <h2>{texts.password}</h2>
        {member.hasPassword ? <ChangePassword /> : <p class="quiet">{texts.noPassword}</p>}
      </section>
      <OwnSessions />
    </Page>
  );
}
