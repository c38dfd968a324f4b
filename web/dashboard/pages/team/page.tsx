import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Tag } from "../../../ui/status.tsx";
import { actionsColumn, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { useRequested } from "../../requested.ts";
import { useCan, useSession } from "../../session.ts";
import { texts } from "../../texts/team.ts";
import { Invitations } from "./invitations.tsx";
import { InviteMember } from "./invite-member.tsx";
import { MemberDialog } from "./member-dialog.tsx";
import { otherRoles } from "./model.ts";

type Member = components["schemas"]["TeamMember"];

export default function TeamPage() {
  const { me } = useSession();
  const canWrite = useCan("members:write");
  const members = useLoaded("members", async (signal) => dataOf(await api.GET("/v1/members", { signal })));
  const invitations = useLoaded("invitations", async (signal) =>
    dataOf(await api.GET("/v1/members/invitations", { signal })),
  );
  const [isInviting, setInviting] = useState(false);
  useRequested("invite", canWrite, () => setInviting(true));
  const [changed, setChanged] = useState<Member | null>(null);

  function showRole(member: Member) {
    return (
      <>
        {texts.roles[member.role]}
        {otherRoles(member.environmentRoles, me.environments).map((one) => (
          <div key={one.environment} class="small quiet">
            {texts.differs(one.environment, one.role)}
          </div>
        ))}
      </>
    );
  }

  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        canWrite && (
          <Button kind="primary" onClick={() => setInviting(true)}>
            {texts.invite}
          </Button>
        )
      }
    >
      {members.error !== undefined && <Problem error={members.error} onRetry={members.reload} />}
      {!members.data && members.isLoading && <Loading />}
      {members.data && (
        <Table
          label={texts.members}
          rows={members.data}
          rowKey={(member) => member._id}
          columns={[
            {
              name: "name",
              title: texts.name,
              show: (member) => (
                <>
                  <bdi>{member.name}</bdi> {member._id === me.member._id && <Tag>{texts.you}</Tag>}
                </>
              ),
            },
            { name: "email", title: texts.email, show: (member) => member.email },
            { name: "role", title: texts.role, show: showRole },
            {
              name: "seen",
              title: texts.lastSeen,
              show: (member) =>
                member.lastSeenAt ? <Time at={member.lastSeenAt} /> : <span class="quiet">{texts.never}</span>,
            },
            { name: "sessions", title: texts.sessions, kind: "number", show: (member) => member.sessions },
            ...actionsColumn(
              canWrite &&
                ((member: Member) => (
                  <Button aria-label={texts.changeOf(member.name)} onClick={() => setChanged(member)}>
                    {texts.change}
                  </Button>
                )),
            ),
          ]}
        />
      )}
      <Invitations invitations={invitations} canWrite={canWrite} />
      {isInviting && <InviteMember onClose={() => setInviting(false)} onInvited={invitations.reload} />}
      {changed && <MemberDialog member={changed} onClose={() => setChanged(null)} onChanged={members.reload} />}
    </Page>
  );
}
