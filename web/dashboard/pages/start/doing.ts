/** The steps that a click can do. */
import { api } from "../../../api/client.ts";
import { ADA, EXAMPLE, triggerOf } from "./commands.ts";
import type { Facts } from "./model.ts";

export type DoableStep = "person" | "workflow" | "run";

export const SCOPES = { person: "subscribers:write", workflow: "workflows:write", run: "events:write" } as const;

export async function perform(step: DoableStep, facts: Facts): Promise<void> {
  if (step === "person") {
    await api.POST("/v2/subscribers", { body: ADA });
  } else if (step === "workflow") {
    await api.POST("/v2/workflows", { body: EXAMPLE });
  } else {
    await api.POST("/v1/events/trigger", { body: triggerOf(facts) });
    await waitForRun();
  }
}

/** The run begins a moment after its trigger was accepted; a worker that is busy is not waited for. */
async function waitForRun(): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const { data } = await api.GET("/v1/runs", { params: { query: { limit: 1 } } });
    if (data && data.data.length > 0) {
      return;
    }
    await new Promise((done) => setTimeout(done, 200));
  }
}
