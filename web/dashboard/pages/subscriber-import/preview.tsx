import { Table } from "../../../ui/table.tsx";
import { TEXT_FIELDS } from "../../parts/subscriber-fields.ts";
import { texts as common } from "../../texts/people.ts";
import { texts } from "../../texts/subscriber-import.ts";
import type { Line } from "./model.ts";

const SHOWN = 5;

/** The first lines as they will be sent, with the fields that they have. */
export function Preview({ lines }: { lines: readonly Line[] }) {
  const shown = lines.slice(0, SHOWN);
  if (shown.length === 0) {
    return null;
  }
  const fields = (["subscriberId", ...TEXT_FIELDS] as const).filter((field) =>
    shown.some((one) => one.subscriber[field]),
  );
  const columns = [
    { name: "line", title: texts.line, show: (one: Line) => one.line },
    ...fields.map((field) => ({
      name: field,
      title: common.fields[field],
      show: (one: Line) => <bdi>{one.subscriber[field]}</bdi>,
    })),
    ...(shown.some((one) => one.subscriber.data)
      ? [
          {
            name: "data",
            title: common.fields.data,
            show: (one: Line) => one.subscriber.data && <code>{JSON.stringify(one.subscriber.data)}</code>,
          },
        ]
      : []),
  ];
  return (
    <section class="stack" aria-labelledby="import-preview">
      <h2 id="import-preview">{texts.preview}</h2>
      <Table label={texts.preview} columns={columns} rows={shown} rowKey={(one) => String(one.line)} />
    </section>
  );
}
