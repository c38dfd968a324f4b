import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Copyable } from "../../../ui/copyable.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { texts } from "../../texts/team.ts";
import type { EnvironmentRoles, Role } from "./model.ts";
import { RoleChoice } from "./role-choice.tsx";

/** Makes an invitation, and shows its link once. */
export function InviteMember({ onClose, onInvited }: { onClose: () => void; onInvited: () => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("author");
  const [environmentRoles, setEnvironmentRoles] = useState<EnvironmentRoles>({});
  const [made, setMade] = useState<components["schemas"]["NewInvitation"] | null>(null);
  const inviting = useAction(async () => {
    setMade(dataOf(await api.POST("/v1/members/invitations", { body: { email, role, environmentRoles } })));
    onInvited();
  });

  if (made) {
    return (
      <Dialog title={texts.invited} onClose={onClose}>
        {made.link === undefined ? (
          <p>{texts.mailed(made.invitation.email)}</p>
        ) : (
          <>
            <p>{texts.linkHint}</p>
            <Copyable text={made.link} />
            <p class="quiet">{texts.notMailed}</p>
          </>
        )}
        <Button kind="primary" onClick={onClose}>
          {texts.done}
        </Button>
      </Dialog>
    );
  }
  return (
    <Dialog title={texts.invite} onClose={onClose}>
      <Form action={inviting} submit={texts.inviteAction} onCancel={onClose}>
        <TextField
          label={texts.email}
          type="email"
          required
          value={email}
          onValue={setEmail}
          problem={inviting.fields.email}
        />
        <RoleChoice
          role={role}
          onRole={setRole}
          environmentRoles={environmentRoles}
          onEnvironmentRoles={setEnvironmentRoles}
          problem={inviting.fields.role}
        />
      </Form>
    </Dialog>
  );
}
