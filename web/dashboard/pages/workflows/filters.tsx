import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { SelectField, TextField } from "../../../ui/field.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/workflows.ts";
import { rangeOf } from "./model.ts";

const SEARCH = "workflow-search";

export function focusSearch(): void {
  document.querySelector<HTMLInputElement>(`input[name="${SEARCH}"]`)?.focus();
}

/** What the list shows; everything is in the address. */
export function WorkflowFilters({ total }: { total: number }) {
  const state = useUrlState();
  const { environment } = useSession();
  const tags = useLoaded(`tags/${environment.identifier}`, async (signal) => {
    const params = { path: { environmentId: environment._id } };
    return dataOf(await api.GET("/v2/environments/{environmentId}/tags", { params, signal }));
  });
  const names = new Set([...(tags.data ?? []).map((tag) => tag.name), state.get("tag")].filter(Boolean));
  return (
    <search class="toolbar workflows-toolbar">
      <TextField
        type="search"
        name={SEARCH}
        label={texts.search}
        placeholder={texts.searchHint}
        value={state.get("q")}
        onValue={(q) => state.set({ q })}
      />
      <SelectField
        label={texts.tag}
        value={state.get("tag")}
        options={[{ value: "", label: texts.allTags }, ...[...names].map((name) => ({ value: name, label: name }))]}
        onValue={(tag) => state.set({ tag })}
      />
      <Choice name="state" labels={texts.states} label={texts.state} value={state.get("state")} />
      <Choice name="sort" labels={texts.sorts} label={texts.sort} value={state.get("sort") || "createdAt"} />
      <Choice name="range" labels={texts.ranges} label={texts.range} value={rangeOf(state.get("range"))} />
      <p class="small quiet workflows-total" role="status">
        {texts.total(total)}
      </p>
    </search>
  );
}

type ChoiceProps = { name: string; label: string; labels: Record<string, string>; value: string };

function Choice({ name, label, labels, value }: ChoiceProps) {
  const state = useUrlState();
  const options = Object.entries(labels).map(([one, text]) => ({ value: one, label: text }));
  return (
    <SelectField label={label} value={value} options={options} onValue={(chosen) => state.set({ [name]: chosen })} />
  );
}
