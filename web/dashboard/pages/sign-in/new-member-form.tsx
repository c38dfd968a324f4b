import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { BASE } from "../../addresses.ts";
import { texts } from "../../texts/sign-in.ts";
import { aboutToken } from "./about-token.ts";
import { PasswordField } from "./password-field.tsx";

export type NewMember = { email: string; name: string; password?: string };

type NewMemberFormProps = {
  /** Left out where the address is known. */
  asksEmail?: boolean;
  hasPassword: boolean;
  submit: string;
  onSubmit: (member: NewMember) => Promise<unknown>;
};

/** Who somebody is who becomes a member; it leads into the dashboard. */
export function NewMemberForm({ asksEmail = false, hasPassword, submit, onSubmit }: NewMemberFormProps) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const joining = useAction(async () => {
    await onSubmit({ email: email.trim(), name: name.trim(), ...(hasPassword && { password }) });
    // Replaced, so that the link does not stay in the history.
    location.replace(`${BASE}/`);
  });
  const { fields } = joining;
  return (
    <Form action={aboutToken(joining)} submit={submit}>
      {asksEmail && (
        <TextField
          label={texts.email}
          type="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onValue={setEmail}
          problem={fields.email}
        />
      )}
      <TextField
        label={texts.setUp.name}
        autoComplete="name"
        required
        autoFocus={!asksEmail}
        value={name}
        onValue={setName}
        problem={fields.name}
      />
      {hasPassword && (
        <PasswordField label={texts.password} isNew value={password} onValue={setPassword} problem={fields.password} />
      )}
    </Form>
  );
}
