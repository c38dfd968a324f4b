import { curlCommand } from "../../api/curl.ts";
import { Copyable } from "../../ui/copyable.tsx";
import { texts } from "../texts/test-panel.ts";
import { type Scenario, simulationBody, triggerBody } from "./model.ts";

/** The same test for a terminal. */
export function Commands({ scenario }: { scenario: Scenario }) {
  const commands = [
    [texts.curlSimulate, curlCommand({ method: "POST", path: "/v1/simulate", body: simulationBody(scenario) })],
    [texts.curlTrigger, curlCommand({ method: "POST", path: "/v1/events/trigger", body: triggerBody(scenario) })],
  ] as const;
  return (
    <details>
      <summary>{texts.curl}</summary>
      <div class="stack test-circumstances">
        {commands.map(([title, command]) => (
          <div key={title} class="stack">
            <h3>{title}</h3>
            <Copyable text={command} />
          </div>
        ))}
      </div>
    </details>
  );
}
