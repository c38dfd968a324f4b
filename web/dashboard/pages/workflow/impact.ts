/** What a change of a workflow would mean, in sentences. */
import type { components } from "../../../api/schema.d.ts";
import { texts } from "../../texts/impact.ts";

export type Impact = components["schemas"]["Impact"];
type Message = components["schemas"]["SimulatedMessage"];

export function describeWaiting({ waiting, waitingCapped }: Impact): string[] {
  return waiting.map(({ count, name, version, follows }) =>
    follows ? texts.follows(count, waitingCapped, name) : texts.keeps(count, waitingCapped, name, version),
  );
}

export function describeProblems({ problems }: Impact): string[] {
  return problems.map(({ stepId, path, message }) => texts.problem(stepId, path, message));
}

export function describeEmpty({ emptyVariables, triggerCount }: Impact): string[] {
  return emptyVariables.map(({ variable, stepId, missing }) =>
    texts.emptyVariable(variable, stepId, missing, triggerCount),
  );
}

/** What a person would get, as text. */
export function describeMessages(messages: readonly Message[]): string {
  const lines = messages.map(({ channel, subject, content }) =>
    [channel, subject, content].filter(Boolean).join(" · "),
  );
  return lines.join("\n") || texts.nothing;
}
