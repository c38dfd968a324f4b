/** Sends an e-mail, as it is in the editor, to the person who writes it. */
import { useState } from "preact/hooks";
import { useAction } from "../../api/action.ts";
import type { components } from "../../api/schema.d.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { TestResult } from "../parts/test-result.tsx";
import { useAddress, useCan, useSession } from "../session.ts";
import { texts } from "../texts/preview.ts";

type Schemas = components["schemas"];

export function TestEmail({ send }: { send: () => Promise<Schemas["TestEmail"]> }) {
  const { me } = useSession();
  const address = useAddress();
  const canEdit = useCan("workflows:write");
  const canSend = useCan("events:write");
  const [sent, setSent] = useState<Schemas["TestEmail"] | null>(null);
  const sending = useAction(async () => {
    setSent(null);
    setSent(await send());
  });
  if (!canEdit || !canSend) {
    return null;
  }
  return (
    <section class="stack" aria-label={texts.testEmail}>
      <div>
        <Button busy={sending.isBusy} onClick={() => void sending.run()}>
          {texts.sendTest}
        </Button>
      </div>
      <p class="small quiet">{texts.sendTestHint(me.member.email)}</p>
      {sending.error !== null && <Problem error={sending.error} />}
      {sending.fields.integrationId !== undefined && <a href={address("/integrations/new")}>{texts.addIntegration}</a>}
      {sent && (
        <>
          <p class="small">{texts.sentThrough(sent.to, sent.integration)}</p>
          <TestResult result={sent.result} />
        </>
      )}
    </section>
  );
}
