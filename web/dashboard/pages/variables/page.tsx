import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { Menu } from "../../../ui/menu.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { actionsColumn, type Column, Cut, Table } from "../../../ui/table.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { useCan, useSession } from "../../session.ts";
import { texts } from "../../texts/variables.ts";
import { DeleteVariable } from "./delete-variable.tsx";
import { countMissing, type Variable } from "./model.ts";
import { VariableForm } from "./variable-form.tsx";

type Open = { kind: "new" } | { kind: "edit" | "delete"; variable: Variable };

export default function VariablesPage() {
  const canWrite = useCan("environments:write");
  const text = useUrlState().get("q");
  const [open, setOpen] = useState<Open | null>(null);
  const variables = useLoaded(
    `variables ${text}`,
    async (signal) => {
      const query = text ? { search: text } : {};
      return dataOf(await api.GET("/v1/environment-variables", { params: { query }, signal }));
    },
    { isKept: true },
  );
  const changed = () => void variables.reload();
  const create = canWrite && (
    <Button kind="primary" onClick={() => setOpen({ kind: "new" })}>
      {texts.create}
    </Button>
  );
  return (
    <Page title={texts.title} lead={texts.lead} actions={create}>
      {!canWrite && <p class="document-note">{texts.readOnly}</p>}
      <div class="toolbar">
        <SearchBox label={texts.search} placeholder={texts.searchHint} />
      </div>
      {variables.error !== undefined && <Problem error={variables.error} onRetry={variables.reload} />}
      {!variables.data && variables.error === undefined && <Loading lines={6} />}
      {variables.data?.length === 0 && <Nothing text={text} create={create} />}
      {variables.data && variables.data.length > 0 && (
        <VariableTable variables={variables.data} onOpen={canWrite ? setOpen : null} />
      )}
      {open && open.kind !== "delete" && (
        <VariableForm
          variable={open.kind === "edit" ? open.variable : null}
          onSaved={changed}
          onClose={() => setOpen(null)}
        />
      )}
      {open?.kind === "delete" && (
        <DeleteVariable variableKey={open.variable.key} onDeleted={changed} onClose={() => setOpen(null)} />
      )}
    </Page>
  );
}

function Nothing({ text, create }: { text: string; create: preact.ComponentChildren }) {
  const { environment } = useSession();
  if (text) {
    return <Empty title={texts.nothing(text)} />;
  }
  const values = [{ _environmentId: environment._id, value: "https://help.example.com" }];
  const body = { key: "SUPPORT_URL", values };
  return (
    <Empty title={texts.empty} command={curlCommand({ method: "POST", path: "/v1/environment-variables", body })}>
      <p class="quiet">{texts.emptyHint}</p>
      {create}
    </Empty>
  );
}

type VariableTableProps = { variables: readonly Variable[]; onOpen: ((open: Open) => void) | null };

function VariableTable({ variables, onOpen }: VariableTableProps) {
  const { me } = useSession();
  const ids = me.environments.map((one) => one._id);
  const columns: Column<Variable>[] = [
    {
      name: "key",
      title: texts.key,
      show: (row) => (
        <span class="row">
          <code>{row.key}</code>
          {row.isSecret && <Status tone="plain">{texts.secret}</Status>}
        </span>
      ),
    },
    {
      name: "values",
      title: texts.values,
      show: (row) => (
        <dl class="key-values">
          {me.environments.map(({ _id, name }) => {
            const value = row.values.find((one) => one._environmentId === _id)?.value;
            return [
              <dt key={`${_id}-name`}>{name}</dt>,
              <dd key={_id}>{value ? <Cut text={value} isCode /> : <span class="quiet">{texts.noValue}</span>}</dd>,
            ];
          })}
        </dl>
      ),
    },
    {
      name: "missing",
      title: texts.missingTitle,
      show: (row) => {
        const missing = countMissing(row, ids);
        return missing > 0 ? <Status tone="warn">{texts.missing(missing)}</Status> : null;
      },
    },
    ...actionsColumn<Variable>(
      onOpen !== null &&
        ((row) => (
          <Menu
            label={texts.actionsOf(row.key)}
            items={[
              { label: texts.edit, onSelect: () => onOpen({ kind: "edit", variable: row }) },
              { label: texts.delete, isDangerous: true, onSelect: () => onOpen({ kind: "delete", variable: row }) },
            ]}
          >
            ⋯
          </Menu>
        )),
    ),
  ];
  return <Table label={texts.title} columns={columns} rows={variables} rowKey={(row) => row._id} />;
}
