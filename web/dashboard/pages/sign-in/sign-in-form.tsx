import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { BASE } from "../../addresses.ts";
import { texts } from "../../texts/sign-in.ts";
import { type Methods, useMethods } from "./methods.ts";
import { PasswordField } from "./password-field.tsx";

type Me = components["schemas"]["Me"];

type SignInFormProps = {
  /** Who signed in last. */
  email?: string;
  onSignedIn: (me: Me) => void;
};

/** Signing in where it is not known yet which ways there are. */
export function SignInForm(props: SignInFormProps) {
  const methods = useMethods();
  if (methods.error) {
    return <Problem error={methods.error} onRetry={methods.reload} />;
  }
  return methods.data ? <SignInWays methods={methods.data} {...props} /> : <Loading />;
}

/** The ways to sign in that this installation has. */
export function SignInWays({ methods, email = "", onSignedIn }: SignInFormProps & { methods: Methods }) {
  const { passwords, oidc } = methods;
  if (!passwords && !oidc) {
    return <Empty title={texts.noWay}>{texts.noWayHint}</Empty>;
  }
  return (
    <>
      {passwords && <PasswordForm email={email} onSignedIn={onSignedIn} />}
      {passwords && oidc && <p class="sign-in-or small quiet">{texts.or}</p>}
      {oidc && <OidcLink oidc={oidc} kind={passwords ? "plain" : "primary"} />}
    </>
  );
}

function PasswordForm({ email: known, onSignedIn }: Required<SignInFormProps>) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState("");
  const signing = useAction(async () => {
    onSignedIn(dataOf(await api.POST("/v1/auth/sign-in", { body: { email, password } })));
  });
  return (
    <Form
      action={signing}
      submit={texts.submit}
      beside={
        <a class="small" href={`${BASE}/forgotten`}>
          {texts.forgotten}
        </a>
      }
    >
      <TextField
        label={texts.email}
        type="email"
        autoComplete="username"
        required
        autoFocus={known === ""}
        value={email}
        onValue={setEmail}
      />
      <PasswordField label={texts.password} value={password} onValue={setPassword} isFirst={known !== ""} />
    </Form>
  );
}

/** Leads to the provider; it comes back to the page of the address, or to the one that signing in should lead to. */
export function OidcLink({ oidc, kind }: { oidc: NonNullable<Methods["oidc"]>; kind: "plain" | "primary" }) {
  const wanted = new URLSearchParams(location.search).get("return");
  const isInside = location.pathname.startsWith(`${BASE}/e/`);
  const target = wanted ?? (isInside ? location.pathname + location.search : `${BASE}/`);
  return (
    <a class={`button button-${kind}`} href={`${oidc.url}?returnTo=${encodeURIComponent(target)}`}>
      {texts.continueWith(new URL(oidc.issuer).host)}
    </a>
  );
}
