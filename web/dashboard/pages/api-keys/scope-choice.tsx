import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { CheckField } from "../../../ui/field.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/api-keys.ts";

type Scope = components["schemas"]["Scope"];

type ScopeChoiceProps = {
  value: readonly Scope[];
  onValue: (value: readonly Scope[]) => void;
  problem?: string | undefined;
};

/** What a key may do; members can give what they have themselves. */
export function ScopeChoice({ value, onValue, problem }: ScopeChoiceProps) {
  const { environment } = useSession();
  const known = useLoaded("scopes", async (signal) => dataOf(await api.GET("/v1/scopes", { signal })));
  const offered = (known.data ?? []).filter(
    ({ scope }) => scope !== "all" && (environment.role === "owner" || environment.scopes.includes(scope)),
  );
  const isAll = value.includes("all");

  function toggle(scope: Scope, isChosen: boolean) {
    onValue(isChosen ? [...value, scope] : value.filter((one) => one !== scope));
  }

  return (
    <fieldset class="api-keys-scopes stack">
      <legend>{texts.scopes}</legend>
      {known.error !== undefined && <Problem error={known.error} onRetry={known.reload} />}
      <CheckField
        label={texts.everything}
        hint={texts.everythingHint}
        checked={isAll}
        onChecked={(checked) => onValue(checked ? ["all"] : [])}
      />
      {!isAll &&
        offered.map(({ scope, description }) => (
          <CheckField
            key={scope}
            label={<code>{scope}</code>}
            hint={description}
            checked={value.includes(scope)}
            onChecked={(checked) => toggle(scope, checked)}
          />
        ))}
      {problem && <p class="field-problem">{problem}</p>}
    </fieldset>
  );
}
