import type { components } from "../../../api/schema.d.ts";
import type { UrlState } from "../../../api/url-state.ts";
import { SelectField, TextField } from "../../../ui/field.tsx";
import { texts } from "../../texts/audit-log.ts";

type TargetType = components["schemas"]["TargetType"];
type ActorType = components["schemas"]["ActorType"];

export type Filters = { targetType?: TargetType; actorType?: ActorType; targetId?: string; from?: string; to?: string };

/** The filters of the address, as the API takes them: whole days of the viewer. */
export function readFilters(url: UrlState): Filters {
  const [targetType, actorType, targetId] = [url.get("targetType"), url.get("actorType"), url.get("targetId")];
  const [from, to] = [url.get("from"), url.get("to")];
  return {
    ...(targetType && { targetType: targetType as TargetType }),
    ...(actorType && { actorType: actorType as ActorType }),
    ...(targetId && { targetId }),
    ...(from && { from: new Date(`${from}T00:00:00`).toISOString() }),
    ...(to && { to: new Date(`${to}T23:59:59.999`).toISOString() }),
  };
}

export function AuditFilters({ url }: { url: UrlState }) {
  return (
    <search class="toolbar">
      <SelectField
        label={texts.targetType}
        value={url.get("targetType")}
        options={optionsOf(texts.targets)}
        onValue={(targetType) => url.set({ targetType })}
      />
      <SelectField
        label={texts.actorType}
        value={url.get("actorType")}
        options={optionsOf(texts.actors)}
        onValue={(actorType) => url.set({ actorType })}
      />
      <TextField
        label={texts.targetId}
        value={url.get("targetId")}
        onValue={(targetId) => url.set({ targetId: targetId.trim() })}
      />
      <TextField label={texts.from} type="date" value={url.get("from")} onValue={(from) => url.set({ from })} />
      <TextField label={texts.to} type="date" value={url.get("to")} onValue={(to) => url.set({ to })} />
    </search>
  );
}

function optionsOf(labels: Record<string, string>) {
  return [{ value: "", label: texts.all }, ...Object.entries(labels).map(([value, label]) => ({ value, label }))];
}
