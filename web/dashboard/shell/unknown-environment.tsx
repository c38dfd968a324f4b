import { Empty } from "../../ui/states.tsx";
import { addressOf } from "../addresses.ts";
import type { Environment } from "../session.ts";
import { texts } from "../texts/shell.ts";

/** An address of an environment that does not exist, or that this member cannot enter. */
export function UnknownEnvironment({ environments }: { environments: readonly Environment[] }) {
  return (
    <main class="lonely">
      <Empty title={texts.unknownEnvironment}>
        <p class="quiet">{texts.unknownEnvironmentHint}</p>
        <ul>
          {environments.map((one) => (
            <li key={one.identifier}>
              <a href={addressOf(one.identifier, "/")}>
                <bdi>{one.name}</bdi>
              </a>
            </li>
          ))}
        </ul>
      </Empty>
    </main>
  );
}
