import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/account.ts";

export function OwnName() {
  const [name, setName] = useState(useSession().me.member.name);
  const saving = useAction(async () => {
    await api.PATCH("/v1/auth/me", { body: { name } });
    notify(texts.saved);
  });
  return (
    <Form class="stack account-form" action={saving} submit={texts.save} kind="plain">
      <TextField
        label={texts.name}
        required
        autoComplete="name"
        value={name}
        onValue={setName}
        problem={saving.fields.name}
      />
    </Form>
  );
}
