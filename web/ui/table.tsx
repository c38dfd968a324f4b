import { Component, type ComponentChildren } from "preact";
import { texts } from "./texts.ts";

export type Column<Row> = {
  name: string;
  title: string;
  show: (row: Row) => ComponentChildren;
  /** Numbers stand below each other, and what can be done with a row stands at its end. */
  kind?: "number" | "actions";
};

/** The last column, for people who may do something. */
export function actionsColumn<Row>(show: false | ((row: Row) => ComponentChildren)): Column<Row>[] {
  return show ? [{ name: "actions", title: texts.actions, kind: "actions", show }] : [];
}

type TableProps<Row> = {
  /** What the rows are, for those who cannot see the heading above. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
};

/** A table that becomes a list of cards on a narrow screen. */
export function Table<Row>({ label, columns, rows, rowKey }: TableProps<Row>) {
  return (
    <table class="table" aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.name} scope="col" class={classOf(column)}>
              {column.kind === "actions" ? <span class="visually-hidden">{column.title}</span> : column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <TableRow key={rowKey(row)} row={row} columns={columns} />
        ))}
      </tbody>
    </table>
  );
}

/** Text of one line in a table, however long it is; all of it is there on hover, and on a narrow screen. */
export function Cut({ text, isCode = false }: { text: string; isCode?: boolean }) {
  const Element = isCode ? "code" : "bdi";
  return (
    <Element class="cut" title={text}>
      {text}
    </Element>
  );
}

type TableRowProps<Row> = { row: Row; columns: readonly Column<Row>[] };

/** Drawn again only if it is another row: long lists that change at one end stay cheap if their columns stay the same. */
class TableRow<Row> extends Component<TableRowProps<Row>> {
  override shouldComponentUpdate(next: TableRowProps<Row>): boolean {
    return next.row !== this.props.row || next.columns !== this.props.columns;
  }

  override render({ row, columns }: TableRowProps<Row>) {
    return (
      <tr>
        {columns.map((column) => (
          <td key={column.name} data-title={column.kind === "actions" ? "" : column.title} class={classOf(column)}>
            <div>{column.show(row)}</div>
          </td>
        ))}
      </tr>
    );
  }
}

function classOf({ kind }: Column<never>): string | undefined {
  return kind && `table-${kind}`;
}
