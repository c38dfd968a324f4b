import { useLoaded } from "../../../api/loaded.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/start.ts";

const LOOPBACK = /^(localhost|127\.|\[::1\])/;

/** Leads to the demo page, where an inbox of this environment can be seen, on a machine that serves it. */
export function DemoLink() {
  const { environment } = useSession();
  const mayExist = LOOPBACK.test(location.hostname) && environment.type === "dev";
  const demo = useLoaded(`demo ${mayExist}`, async (signal) => {
    const answer = mayExist ? await fetch("/demo/state", { signal }) : null;
    return answer?.ok ? ((await answer.json()).applicationIdentifier as string) : "";
  });
  return demo.data === environment.identifier ? <ButtonLink href="/demo">{texts.demo}</ButtonLink> : null;
}
