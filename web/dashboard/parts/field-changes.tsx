import { Table } from "../../ui/table.tsx";
import { texts } from "../texts/changes.ts";

export type FieldChange = { path: string; before?: unknown; after?: unknown };

/** Fields that changed, with the values before and after. */
export function FieldChanges({ label, changes }: { label: string; changes: readonly FieldChange[] }) {
  const columns = [
    { name: "path", title: texts.field, show: (one: FieldChange) => <code>{one.path}</code> },
    { name: "before", title: texts.before, show: (one: FieldChange) => <Value value={one.before} tone="removed" /> },
    { name: "after", title: texts.after, show: (one: FieldChange) => <Value value={one.after} tone="added" /> },
  ];
  return (
    <div class="changes">
      <Table label={label} columns={columns} rows={changes} rowKey={(one) => one.path} />
    </div>
  );
}

function Value({ value, tone }: { value: unknown; tone: "added" | "removed" }) {
  if (value === undefined) {
    return <span class="quiet">{texts.absent}</span>;
  }
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return <span class={`change change-${tone}`}>{text}</span>;
}
