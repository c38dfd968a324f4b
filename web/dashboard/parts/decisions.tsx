import type { components } from "../../api/schema.d.ts";
import { Json } from "../../ui/json.tsx";
import type { Tone } from "../../ui/status.tsx";
import { Timeline } from "../../ui/timeline.tsx";
import { texts } from "../texts/runs.ts";
import { decisionKeys } from "./decision-keys.ts";

export type Decision = components["schemas"]["Decision"];

const TONES: Record<Decision["verdict"], Tone> = {
  passed: "good",
  stopped: "warn",
  failed: "bad",
  waiting: "wait",
  unknown: "plain",
};

type DecisionsProps = {
  decisions: readonly Decision[];
  /** Where they all belong to the step that stands above, which need not be named again. */
  ofStep?: string;
};

/** Decisions in words, from the first to the last; each opens to what it saw. */
export function Decisions({ decisions, ofStep }: DecisionsProps) {
  if (decisions.length === 0) {
    return <p class="quiet">{texts.noDecisions}</p>;
  }
  const keys = decisionKeys(decisions);
  const entries = decisions.map((decision, index) => ({
    id: keys[index] ?? "",
    tone: TONES[decision.verdict],
    title: (
      <>
        {decision.stepId && decision.stepId !== ofStep && <code>{decision.stepId} </code>}
        {isAgainst(decision) ? <strong>{decision.summary}</strong> : decision.summary}
      </>
    ),
    at: decision.at,
    details: <DecisionDetails decision={decision} />,
  }));
  return <Timeline label={texts.decisions} entries={entries} />;
}

function isAgainst({ verdict }: Decision): boolean {
  return verdict === "stopped" || verdict === "failed";
}

function DecisionDetails({ decision }: { decision: Decision }) {
  return (
    <>
      {decision.remedy && (
        <p>
          <strong>{texts.remedy}:</strong> {decision.remedy}
        </p>
      )}
      {decision.source === "derived" && <p class="small quiet">{texts.derived}</p>}
      <Json label={texts.values} value={decision.values} />
    </>
  );
}
