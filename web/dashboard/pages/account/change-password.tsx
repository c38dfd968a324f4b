import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/account.ts";

export function ChangePassword() {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const changing = useAction(async () => {
    await api.POST("/v1/auth/me/password", { body: { currentPassword: current, newPassword: password } });
    setCurrent("");
    setPassword("");
    notify(texts.changed);
  });
  return (
    <Form class="stack account-form" action={changing} submit={texts.change} kind="plain">
      <TextField
        label={texts.current}
        type="password"
        autoComplete="current-password"
        required
        value={current}
        onValue={setCurrent}
        problem={changing.fields.currentPassword}
      />
      <TextField
        label={texts.new}
        hint={texts.newHint}
        type="password"
        autoComplete="new-password"
        required
        value={password}
        onValue={setPassword}
        problem={changing.fields.newPassword}
      />
    </Form>
  );
}
