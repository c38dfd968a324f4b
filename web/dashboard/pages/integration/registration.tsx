import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { texts } from "../../texts/integration-health.ts";
import type { PartProps } from "./part.ts";

const REGISTERING: readonly string[] = ["sendgrid", "resend", "mailgun"];

/** Registers the address of receipts at providers that have an API for it. */
export function Registration({ integration, provider, onChanged }: PartProps) {
  const [result, setResult] = useState<{ success: boolean; message?: string } | null>(null);
  const register = useAction(async () => {
    setResult(null);
    const params = { path: { integrationId: integration._id } };
    const answer = dataOf(await api.POST("/v1/integrations/{integrationId}/auto-configure", { params }));
    setResult(answer);
    if (answer.success) {
      onChanged();
    }
  });
  if (!REGISTERING.includes(integration.providerId)) {
    return null;
  }
  return (
    <>
      <div>
        <Button kind="primary" busy={register.isBusy} onClick={() => void register.run()}>
          {texts.register(provider.name)}
        </Button>
      </div>
      {register.error ? <Problem error={register.error} /> : null}
      {result && (
        <p role="status" class={result.success ? undefined : "integration-warning"}>
          {result.success ? texts.registered(provider.name) : result.message}
        </p>
      )}
    </>
  );
}
