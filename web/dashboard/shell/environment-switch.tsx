import { useLocation } from "preact-iso/router";
import { addressOf } from "../addresses.ts";
import { findPlace } from "../environment.ts";
import { useSession } from "../session.ts";
import { texts } from "../texts/shell.ts";
import { pathIn } from "./other-environment.ts";

/** Shows another environment, on the same page if it is there. */
export function useSwitchEnvironment(): (identifier: string) => Promise<void> {
  const { me } = useSession();
  const { path, route } = useLocation();
  return async (identifier) => {
    const place = findPlace(me.environments, path, null);
    route(addressOf(identifier, await pathIn(identifier, place?.path ?? "/", location.search)));
  };
}

/** The environment that everything on the page belongs to. */
export function EnvironmentSwitch() {
  const { me, environment } = useSession();
  const switchTo = useSwitchEnvironment();
  const isProduction = environment.type === "prod";
  return (
    <label class={`environment ${isProduction ? "environment-production" : ""}`}>
      <span class="visually-hidden">{texts.environment}</span>
      {isProduction ? (
        <strong class="environment-tag" title={texts.productionHint}>
          {texts.production(environment.name)}
        </strong>
      ) : (
        <span class="environment-mark" aria-hidden="true" style={{ background: environment.color ?? "" }} />
      )}
      <select
        class="environment-select"
        value={environment.identifier}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          // It shows the environment of the page, which may stay.
          event.currentTarget.value = environment.identifier;
          void switchTo(chosen);
        }}
      >
        {me.environments.map((one) => (
          <option key={one.identifier} value={one.identifier}>
            {one.name}
          </option>
        ))}
      </select>
    </label>
  );
}
