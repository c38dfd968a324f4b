import { useEffect, useRef, useState } from "preact/hooks";
import { onSessionEnd } from "../../api/client.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { signInAddress } from "../addresses.ts";
import { SignInForm } from "../pages/sign-in/sign-in-form.tsx";
import type { Me } from "../session.ts";
import { texts } from "../texts/sign-in.ts";

/**
 * When the session ends while a page is open, its requests wait here until the member has signed in again: the page and
 * what was typed into it stay as they are.
 */
export function SessionEnd({ member }: { member: Me["member"] }) {
  const [isOver, setOver] = useState(false);
  const waiting = useRef<(() => void)[]>([]);

  useEffect(() => {
    onSessionEnd(() => {
      setOver(true);
      return new Promise((resolve) => waiting.current.push(resolve));
    });
    return () => onSessionEnd(null);
  }, []);

  function goOn(signedIn: { _id: string }) {
    if (signedIn._id !== member._id) {
      location.reload();
      return;
    }
    for (const resolve of waiting.current.splice(0)) {
      resolve();
    }
    setOver(false);
  }

  useOtherTab(isOver, goOn);
  if (!isOver) {
    return null;
  }
  return (
    <Dialog title={texts.sessionEnded} onClose={() => location.assign(signInAddress())}>
      <p class="quiet">{texts.sessionEndedHint}</p>
      <SignInForm email={member.email} onSignedIn={(me) => goOn(me.member)} />
    </Dialog>
  );
}

/** Somebody who signed in in another tab does not have to do it again here. */
function useOtherTab(isOver: boolean, goOn: (member: { _id: string }) => void) {
  useEffect(() => {
    if (!isOver) {
      return;
    }
    async function look() {
      const answer = document.visibilityState === "visible" ? await fetch("/v1/auth/me") : null;
      if (answer?.ok) {
        goOn((await answer.json()).member);
      }
    }
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [isOver]);
}
