import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Choices } from "../../../ui/choices.tsx";
import { type Choice, Combobox } from "../../../ui/combobox.tsx";
import { TextField } from "../../../ui/field.tsx";
import { SubscriberPicker, WorkflowPicker } from "../../parts/pickers.tsx";
import { texts } from "../../texts/activity.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { countFilters, type Filters, replaceFirst, TEXT_FILTERS, type TextFilter } from "./filters.ts";
import type { Range } from "./range.ts";
import { RangeFields } from "./range-fields.tsx";

type FilterBarProps = {
  filters: Filters;
  range: Range;
  onFilters: (changes: Partial<Filters>) => void;
  onRange: (change: { range?: string; after?: string; before?: string }) => void;
  onClear: () => void;
};

/** Everything that limits the list; on a narrow screen behind a button. */
export function FilterBar({ filters, range, onFilters, onRange, onClear }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false);
  const count = countFilters(filters);
  function fieldOf(name: TextFilter) {
    return {
      value: filters[name][0] ?? "",
      onValue: (value: string) => onFilters({ [name]: replaceFirst(filters[name], value.trim()) }),
    };
  }
  return (
    <search class="activity-filters">
      <div class="activity-filters-toggle">
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {count > 0 ? texts.filtersWith(count) : texts.filters}
        </Button>
      </div>
      <div class={`activity-fields ${isOpen ? "activity-fields-open" : ""}`}>
        <RangeFields range={range} onRange={onRange} />
        <Choices
          label={texts.status}
          options={optionsOf(runTexts.statuses)}
          values={filters.status}
          onValues={(status) => onFilters({ status })}
        />
        <Choices
          label={texts.channel}
          options={optionsOf(runTexts.stepTypes).filter((one) => one.value !== "trigger")}
          values={filters.stepType}
          onValues={(stepType) => onFilters({ stepType })}
        />
        <WorkflowPicker label={texts.workflow} {...fieldOf("workflowId")} />
        <SubscriberPicker label={texts.person} {...fieldOf("subscriberId")} />
        <Combobox label={texts.provider} suggest={suggestProviders} {...fieldOf("providerId")} />
        <TransactionField {...fieldOf("transactionId")} />
      </div>
      {count > 0 && <OtherFilters filters={filters} onFilters={onFilters} onClear={onClear} />}
    </search>
  );
}

/** An id is complete only when the person says so; every letter would be another list. */
function TransactionField({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  const [text, setText] = useState<string | null>(null);
  function apply() {
    if (text !== null && text.trim() !== value) {
      onValue(text);
    }
    setText(null);
  }
  return (
    <TextField
      label={texts.transaction}
      value={text ?? value}
      onValue={setText}
      onBlur={apply}
      onKeyDown={(event) => event.key === "Enter" && apply()}
      autoComplete="off"
      spellcheck={false}
    />
  );
}

type OtherFiltersProps = Pick<FilterBarProps, "filters" | "onFilters" | "onClear">;

/** Values that have no field, of which the address may name several, a topic, and a way to get rid of all. */
function OtherFilters({ filters, onFilters, onClear }: OtherFiltersProps) {
  const others = TEXT_FILTERS.flatMap((name) =>
    filters[name].slice(1).map((value) => ({
      name,
      value,
      remove: () => onFilters({ [name]: filters[name].filter((one) => one !== value) }),
    })),
  );
  const all = [
    ...others,
    ...(filters.topicKey
      ? [{ name: "topicKey" as const, value: filters.topicKey, remove: () => onFilters({ topicKey: "" }) }]
      : []),
  ];
  return (
    <ul class="activity-others">
      {all.map(({ name, value, remove }) => (
        <li key={`${name} ${value}`}>
          <span class="quiet">{texts.alsoFilter[name]}</span> <bdi>{value}</bdi>
          <Button kind="quiet" aria-label={texts.removeFilter(texts.alsoFilter[name], value)} onClick={remove}>
            ✕
          </Button>
        </li>
      ))}
      <li class="activity-clear">
        <Button kind="quiet" onClick={onClear}>
          {texts.clearFilters}
        </Button>
      </li>
    </ul>
  );
}

function optionsOf<Value extends string>(names: Record<Value, string>): { value: Value; label: string }[] {
  return (Object.entries(names) as [Value, string][]).map(([value, label]) => ({ value, label }));
}

async function suggestProviders(text: string, signal: AbortSignal): Promise<Choice[]> {
  const wanted = text.trim().toLowerCase();
  const found = dataOf(await api.GET("/v1/providers", { signal }));
  return found
    .filter((one) => one.id.includes(wanted) || one.name.toLowerCase().includes(wanted))
    .slice(0, 20)
    .map((one) => ({ value: one.id, label: one.name, detail: one.id }));
}
