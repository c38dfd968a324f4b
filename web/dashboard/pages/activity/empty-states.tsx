import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Copyable } from "../../../ui/copyable.tsx";
import { Empty } from "../../../ui/states.tsx";
import { Time } from "../../../ui/time.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/activity.ts";
import { nodeLines, pythonLines } from "./examples.ts";
import { isExact, type Preset, type Range, widerPreset } from "./range.ts";

type NothingFoundProps = {
  /** Whether the whole time was looked at. */
  isSearchOver: boolean;
  range: Range;
  hasFilters: boolean;
  /** When the latest run of the environment began. */
  latest: string;
  onPreset: (preset: Preset) => void;
  onClear: () => void;
};

/** There are runs, but none that match: what to widen. */
export function NothingFound(props: NothingFoundProps) {
  const { isSearchOver, range, hasFilters, latest, onPreset, onClear } = props;
  const wider = widerPreset(range.preset);
  return (
    <Empty title={texts.nothingFound}>
      <p>{isSearchOver ? reasonOf(range, hasFilters) : texts.nothingSoFar}</p>
      <p class="quiet">
        {texts.latest} <Time at={latest} />.
      </p>
      <div class="row">
        {hasFilters && <Button onClick={onClear}>{texts.clearFilters}</Button>}
        {isExact(range) ? (
          <Button onClick={() => onPreset(range.preset)}>{texts.widen(texts.presets[range.preset])}</Button>
        ) : (
          wider && <Button onClick={() => onPreset(wider)}>{texts.widen(texts.presets[wider])}</Button>
        )}
      </div>
    </Empty>
  );
}

function reasonOf(range: Range, hasFilters: boolean): string {
  if (hasFilters) {
    return texts.nothingWithFilters;
  }
  return isExact(range) ? texts.nothingInExact : texts.nothingInRange(texts.presets[range.preset]);
}

/** How to trigger, with the address of this service and a workflow that exists. */
export function FirstRun() {
  const address = useAddress();
  const workflows = useLoaded("first-workflow", async (signal) => {
    const found = dataOf(await api.GET("/v2/workflows", { params: { query: { limit: 1 } }, signal }));
    return found.workflows[0]?.workflowId ?? null;
  });
  const workflow = workflows.data ?? "welcome";
  const body = { name: workflow, to: "ada" };
  return (
    <Empty title={texts.nothingYet}>
      <p>{texts.nothingYetHint}</p>
      {workflows.data === null && (
        <p class="row">
          {texts.noWorkflow} <ButtonLink href={address("/workflows")}>{texts.toWorkflows}</ButtonLink>
        </p>
      )}
      <h3>{texts.shell}</h3>
      <Copyable text={curlCommand({ method: "POST", path: "/v1/events/trigger", body })} />
      <h3>{texts.python}</h3>
      <Copyable text={pythonLines(workflow, location.origin)} />
      <h3>{texts.node}</h3>
      <Copyable text={nodeLines(workflow, location.origin)} />
    </Empty>
  );
}
