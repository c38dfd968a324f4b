/** The requests of the first steps, as commands for people who continue in a terminal or in their code. */
import { curlCommand } from "../../../api/curl.ts";
import type { CommandLanguage } from "../../parts/commands.tsx";
import { texts } from "../../texts/start.ts";
import type { Facts, StepName } from "./model.ts";

const { example } = texts;

export const ADA = { subscriberId: "ada", firstName: "Ada", email: "ada@example.com" };
export const EXAMPLE = {
  name: example.workflow,
  workflowId: "welcome",
  active: true,
  steps: [
    { name: example.step, type: "in_app" as const, controlValues: { subject: example.subject, body: example.body } },
  ],
};
export const PAYLOAD = { text: "Hello!" };

export function triggerOf(facts: Facts) {
  return { name: facts.workflow ?? EXAMPLE.workflowId, to: facts.person ?? ADA.subscriberId, payload: PAYLOAD };
}

const JAVASCRIPT = `import { Novu } from "@novu/api";

const client = new Novu({ secretKey: process.env.CLARION_API_KEY, serverURL: "{origin}" });
`;
const PYTHON = `import os
from novu_py import Novu

client = Novu(secret_key=os.environ["CLARION_API_KEY"], server_url="{origin}")
`;

/** The commands of a step; providers are connected on their page. */
export function commandsOf(step: StepName, facts: Facts, origin: string): Partial<Record<CommandLanguage, string>> {
  const javascript = JAVASCRIPT.replace("{origin}", origin);
  const python = PYTHON.replace("{origin}", origin);
  const trigger = triggerOf(facts);
  switch (step) {
    case "key":
      return { curl: curlCommand({ path: "/v1/environments/me" }, origin), javascript, python };
    case "person":
      return {
        curl: curlCommand({ method: "POST", path: "/v2/subscribers", body: ADA }, origin),
        javascript: `${javascript}await client.subscribers.create(${JSON.stringify(ADA)});`,
        python: `${python}client.subscribers.create(create_subscriber_request_dto={
    "subscriber_id": "ada", "first_name": "Ada", "email": "ada@example.com",
})`,
      };
    case "workflow":
      return { curl: curlCommand({ method: "POST", path: "/v2/workflows", body: EXAMPLE }, origin) };
    case "run":
      return {
        curl: curlCommand({ method: "POST", path: "/v1/events/trigger", body: trigger }, origin),
        javascript: `${javascript}await client.trigger(${JSON.stringify({ workflowId: trigger.name, to: trigger.to, payload: PAYLOAD })});`,
        python: `${python}client.trigger(trigger_event_request_dto={
    "workflow_id": ${JSON.stringify(trigger.name)}, "to": ${JSON.stringify(trigger.to)}, "payload": {"text": "Hello!"},
})`,
      };
    case "provider":
      return {};
  }
}
