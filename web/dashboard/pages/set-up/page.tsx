import { api } from "../../../api/client.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { BASE } from "../../addresses.ts";
import { texts } from "../../texts/sign-in.ts";
import { useFragment, useMethods } from "../sign-in/methods.ts";
import { NewMemberForm } from "../sign-in/new-member-form.tsx";
import { SignInFrame } from "../sign-in/sign-in-frame.tsx";

const words = texts.setUp;

/** Become the first owner, with the token of the link that the service printed. */
export default function SetUpPage() {
  const token = useFragment();
  const methods = useMethods();
  const isDone = methods.data?.needsSetup === false;
  if (isDone || token === "") {
    return (
      <SignInFrame title={isDone ? words.done : words.noToken} lead={isDone ? words.doneHint : words.noTokenHint}>
        <ButtonLink href={`${BASE}/sign-in`}>{texts.toSignIn}</ButtonLink>
      </SignInFrame>
    );
  }
  return (
    <SignInFrame title={words.title} lead={words.lead}>
      {methods.error ? (
        <Problem error={methods.error} onRetry={methods.reload} />
      ) : methods.data ? (
        <NewMemberForm
          asksEmail
          hasPassword={methods.data.passwords}
          submit={words.submit}
          onSubmit={(member) => api.POST("/v1/auth/setup", { body: { token, ...member } })}
        />
      ) : (
        <Loading />
      )}
    </SignInFrame>
  );
}
