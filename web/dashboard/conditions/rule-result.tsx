import { Status } from "../../ui/status.tsx";
import { texts } from "../texts/conditions.ts";
import type { Builder } from "./builder.ts";
import type { Node } from "./model.ts";
import { resultOf } from "./results.ts";

const MAX_SHOWN = 60;

/** What a rule or a group comes to for the chosen person, and the value that decided. */
export function RuleResult({ builder, node }: { builder: Builder; node: Node }) {
  const { sample, isLogic } = builder;
  if (sample === undefined) {
    return null;
  }
  const result = resultOf(node, isLogic, sample);
  const isShown = node.kind === "rule" && result.isPassed !== null;
  return (
    <div class="conditions-result small">
      <Verdict isPassed={result.isPassed} />
      {isShown && <span class="quiet">{actualText(result.actual)}</span>}
    </div>
  );
}

export function Verdict({ isPassed }: { isPassed: boolean | null }) {
  if (isPassed === null) {
    return <Status tone="wait">{texts.unknown}</Status>;
  }
  return <Status tone={isPassed ? "good" : "warn"}>{isPassed ? texts.passes : texts.fails}</Status>;
}

function actualText(actual: unknown): string {
  if (actual === undefined || actual === null) {
    return texts.absent;
  }
  const text = JSON.stringify(actual);
  return texts.actual(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
