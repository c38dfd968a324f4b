import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Copyable } from "../../../ui/copyable.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { texts } from "../../texts/team.ts";
import { RoleChoice } from "./role-choice.tsx";

type MemberDialogProps = {
  member: components["schemas"]["TeamMember"];
  onClose: () => void;
  onChanged: () => void;
};

/** What can be done with a member: another role, a link for a new password, signing out, removal. */
export function MemberDialog({ member, onClose, onChanged }: MemberDialogProps) {
  const [role, setRole] = useState(member.role);
  const [environmentRoles, setEnvironmentRoles] = useState(member.environmentRoles);
  const [link, setLink] = useState("");
  const [isRemoving, setRemoving] = useState(false);
  const params = { path: { memberId: member._id } };
  const acting = useAction((act: () => Promise<unknown>) => act());

  const saving = useAction(async () => {
    await api.PATCH("/v1/members/{memberId}", { params, body: { role, environmentRoles } });
    notify(texts.saved);
    onChanged();
    onClose();
  });

  async function signOut() {
    await api.DELETE("/v1/members/{memberId}/sessions", { params });
    notify(texts.signedOut);
    onChanged();
  }

  async function makeLink() {
    setLink(dataOf(await api.POST("/v1/members/{memberId}/reset-link", { params })).link);
  }

  if (isRemoving) {
    return (
      <Confirm
        title={texts.removeTitle(member.name)}
        action={texts.remove}
        isDangerous
        onClose={onClose}
        onConfirm={async () => {
          await api.DELETE("/v1/members/{memberId}", { params });
          notify(texts.removed);
          onChanged();
        }}
      >
        <p>{texts.removeHint}</p>
      </Confirm>
    );
  }
  return (
    <Dialog title={texts.changeOf(member.name)} onClose={onClose}>
      <Form action={saving} submit={texts.save} onCancel={onClose}>
        <RoleChoice
          role={role}
          onRole={setRole}
          environmentRoles={environmentRoles}
          onEnvironmentRoles={setEnvironmentRoles}
          problem={saving.fields.role}
        />
      </Form>
      {link !== "" && (
        <>
          <p class="quiet">{texts.resetLinkHint}</p>
          <Copyable text={link} />
        </>
      )}
      {acting.error !== null && <Problem error={acting.error} />}
      <div class="row">
        <Button onClick={() => acting.run(makeLink)}>{texts.resetLink}</Button>
        <Button onClick={() => acting.run(signOut)}>{texts.signOut}</Button>
        <Button kind="danger" onClick={() => setRemoving(true)}>
          {texts.remove}
        </Button>
      </div>
    </Dialog>
  );
}
