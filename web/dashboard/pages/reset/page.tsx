import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Form } from "../../../ui/form.tsx";
import { BASE } from "../../addresses.ts";
import { texts } from "../../texts/sign-in.ts";
import { aboutToken } from "../sign-in/about-token.ts";
import { useFragment } from "../sign-in/methods.ts";
import { PasswordField } from "../sign-in/password-field.tsx";
import { SignInFrame } from "../sign-in/sign-in-frame.tsx";

const words = texts.reset;

/** Set a new password with the token of a link. */
export default function ResetPage() {
  const token = useFragment();
  const [password, setPassword] = useState("");
  const setting = useAction(async () => {
    await api.POST("/v1/auth/reset", { body: { token, password } });
    // Replaced, so that the link does not stay in the history.
    location.replace(`${BASE}/sign-in#password-set`);
  });
  if (token === "") {
    return (
      <SignInFrame title={words.noToken} lead={words.noTokenHint}>
        <ButtonLink href={`${BASE}/forgotten`}>{words.another}</ButtonLink>
      </SignInFrame>
    );
  }
  return (
    <SignInFrame title={words.title} lead={words.lead}>
      <Form
        action={aboutToken(setting)}
        submit={words.submit}
        beside={setting.fields.token && <a href={`${BASE}/forgotten`}>{words.another}</a>}
      >
        <PasswordField
          label={texts.newPassword}
          isNew
          value={password}
          onValue={setPassword}
          problem={setting.fields.password}
        />
      </Form>
    </SignInFrame>
  );
}
