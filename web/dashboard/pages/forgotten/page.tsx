import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { BASE } from "../../addresses.ts";
import { texts } from "../../texts/sign-in.ts";
import { SignInFrame } from "../sign-in/sign-in-frame.tsx";

const words = texts.forgottenPage;

/** Ask for a link to set a new password. */
export default function ForgottenPage() {
  const [email, setEmail] = useState("");
  const [answer, setAnswer] = useState<string | null>(null);
  const asking = useAction(async () => {
    setAnswer(null);
    setAnswer(dataOf(await api.POST("/v1/auth/reset-request", { body: { email } })).message);
  });
  return (
    <SignInFrame title={words.title} lead={words.lead}>
      <Form action={asking} submit={words.submit}>
        <TextField
          label={texts.email}
          type="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onValue={setEmail}
          problem={asking.fields.email}
        />
        <div role="status">{answer !== null && <p class="panel">{answer}.</p>}</div>
      </Form>
      <a class="small" href={`${BASE}/sign-in`}>
        {texts.toSignIn}
      </a>
    </SignInFrame>
  );
}
