import type { components } from "../../../api/schema.d.ts";
import { Status } from "../../../ui/status.tsx";
import { texts } from "../../texts/webhooks.ts";

/** Whether an endpoint is called, and whether it answers. */
export function EndpointState({ endpoint }: { endpoint: components["schemas"]["Endpoint"] }) {
  if (!endpoint.active) {
    return <Status tone={endpoint.disabledReason ? "bad" : "plain"}>{texts.inactive}</Status>;
  }
  return endpoint.failingSince ? (
    <Status tone="warn">{texts.failing}</Status>
  ) : (
    <Status tone="good">{texts.active}</Status>
  );
}
