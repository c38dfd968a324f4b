import type { Csv } from "../../../ui/csv.ts";
import { Table } from "../../../ui/table.tsx";
import { TEXT_FIELDS } from "../../parts/subscriber-fields.ts";
import { texts as common } from "../../texts/people.ts";
import { texts } from "../../texts/subscriber-import.ts";
import { type Mapping, memberOf, type Target } from "./model.ts";

const FIRST_VALUES = 3;

type ColumnTableProps = { csv: Csv; mapping: Mapping; onMapping: (mapping: Mapping) => void };

/** The columns of a file, each with what it goes to. */
export function ColumnTable({ csv, mapping, onMapping }: ColumnTableProps) {
  const columns = [
    { name: "column", title: texts.column, show: (column: string) => <bdi>{column}</bdi> },
    {
      name: "examples",
      title: texts.examples,
      show: (column: string) => (
        <span class="quiet import-values">
          {csv.rows
            .slice(0, FIRST_VALUES)
            .map((row) => row.values[column])
            .filter(Boolean)
            .join(" · ")}
        </span>
      ),
    },
    {
      name: "field",
      title: texts.field,
      show: (column: string) => (
        <select
          class="input"
          aria-label={`${texts.field}: ${column}`}
          value={mapping[column] ?? ""}
          onChange={(event) => onMapping({ ...mapping, [column]: event.currentTarget.value as Target })}
        >
          <option value="">{texts.leaveOut}</option>
          {(["subscriberId", ...TEXT_FIELDS] as const).map((field) => (
            <option key={field} value={field}>
              {common.fields[field]}
            </option>
          ))}
          <option value="member">{texts.inData(memberOf(column))}</option>
          <option value="data">{texts.wholeData}</option>
        </select>
      ),
    },
  ];
  return (
    <Table label={texts.columns} columns={columns} rows={csv.columns.filter(Boolean)} rowKey={(column) => column} />
  );
}
