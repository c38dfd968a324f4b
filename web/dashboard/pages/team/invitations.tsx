import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import type { Loaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { actionsColumn, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { texts } from "../../texts/team.ts";

type Invitation = components["schemas"]["Invitation"];

/** Invitations that are not accepted yet. */
export function Invitations({ invitations, canWrite }: { invitations: Loaded<Invitation[]>; canWrite: boolean }) {
  const withdrawing = useAction(async (invitation: Invitation) => {
    const params = { path: { invitationId: invitation._id } };
    await api.DELETE("/v1/members/invitations/{invitationId}", { params });
    notify(texts.withdrawn);
    invitations.reload();
  });
  return (
    <section class="stack">
      <h2>{texts.invitations}</h2>
      {withdrawing.error !== null && <Problem error={withdrawing.error} />}
      {invitations.error !== undefined && <Problem error={invitations.error} onRetry={invitations.reload} />}
      {invitations.data?.length === 0 && <p class="quiet">{texts.noInvitations}</p>}
      {invitations.data && invitations.data.length > 0 && (
        <Table
          label={texts.invitations}
          rows={invitations.data}
          rowKey={(one) => one._id}
          columns={[
            { name: "email", title: texts.email, show: (one) => one.email },
            { name: "role", title: texts.role, show: (one) => texts.roles[one.role] },
            { name: "by", title: texts.invitedBy, show: (one) => <bdi>{one.invitedBy?.name}</bdi> },
            { name: "expires", title: texts.expires, show: (one) => <Time at={one.expiresAt} /> },
            ...actionsColumn(
              canWrite &&
                ((one: Invitation) => (
                  <Button aria-label={texts.actionOf(one.email, texts.withdraw)} onClick={() => withdrawing.run(one)}>
                    {texts.withdraw}
                  </Button>
                )),
            ),
          ]}
        />
      )}
    </section>
  );
}
