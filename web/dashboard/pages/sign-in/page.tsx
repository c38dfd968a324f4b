import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Button } from "../../../ui/button.tsx";
import { Copyable } from "../../../ui/copyable.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { BASE } from "../../addresses.ts";
import { texts } from "../../texts/sign-in.ts";
import { useFragment, useMethods } from "./methods.ts";
import { readReturnPath } from "./return-path.ts";
import { SignInWays } from "./sign-in-form.tsx";
import { SignInFrame } from "./sign-in-frame.tsx";

export function SignInPage() {
  const { query } = useLocation();
  const fragment = new URLSearchParams(useFragment());
  const methods = useMethods();
  const refusal = fragment.get("error");
  const [isMember, setIsMember] = useState(refusal !== null);
  if (methods.data?.needsSetup && !isMember) {
    return <FirstTime onAgain={methods.reload} onSignIn={() => setIsMember(true)} />;
  }
  return (
    <SignInFrame title={texts.title}>
      {fragment.has("password-set") && <p role="status">{texts.passwordSet}</p>}
      {refusal !== null && <Problem error={new Error(texts.refusals[refusal] ?? texts.otherRefusal)} />}
      {methods.error ? (
        <Problem error={methods.error} onRetry={methods.reload} />
      ) : methods.data ? (
        <SignInWays methods={methods.data} onSignedIn={() => location.replace(readReturnPath(query.return, BASE))} />
      ) : (
        <Loading />
      )}
    </SignInFrame>
  );
}

/** While there is no owner: where the link for the first one is. Colleagues may be members already. */
function FirstTime({ onAgain, onSignIn }: { onAgain: () => void; onSignIn: () => void }) {
  const { first } = texts;
  return (
    <SignInFrame title={first.title} lead={first.lead}>
      <h2>{first.where}</h2>
      <p>{first.printed}</p>
      <pre class="sign-in-line">
        {first.line} {location.origin}
        {BASE}/setup#…
      </pre>
      <p>{first.lost}</p>
      <Copyable text={first.command} />
      <p class="small quiet">{first.image}</p>
      <div class="row">
        <Button onClick={onAgain}>{texts.again}</Button>
        <Button onClick={onSignIn}>{first.signIn}</Button>
      </div>
    </SignInFrame>
  );
}
