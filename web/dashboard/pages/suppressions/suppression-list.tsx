import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Status } from "../../../ui/status.tsx";
import { actionsColumn, type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { nameOfProvider, useProviders } from "../../parts/providers.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts } from "../../texts/suppressions.ts";
import { isErased, keyOf, REASON_TONES, type Suppression } from "./model.ts";

type ListProps = { rows: readonly Suppression[]; canWrite: boolean; onChanged: () => void };

/** The addresses, one by one or several to be removed. */
export function SuppressionList({ rows, canWrite, onChanged }: ListProps) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<readonly Suppression[] | null>(null);
  const providers = useProviders();
  const chosen = rows.filter((one) => selected.has(keyOf(one)));

  function select(key: string, isSelected: boolean) {
    const changed = new Set(selected);
    if (isSelected) {
      changed.add(key);
    } else {
      changed.delete(key);
    }
    setSelected(changed);
  }

  const columns: Column<Suppression>[] = [
    { name: "address", title: texts.address, show: (one) => <Address address={one.address} /> },
    { name: "channel", title: texts.channel, show: (one) => runTexts.channels[one.channel] },
    {
      name: "reason",
      title: texts.reason,
      show: (one) => (
        <span>
          <Status tone={REASON_TONES[one.reason]}>{texts.reasons[one.reason]}</Status>
        </span>
      ),
    },
    { name: "detail", title: texts.detail, show: (one) => <bdi class="quiet">{one.detail ?? texts.none}</bdi> },
    ...(rows.some((one) => one.providerId)
      ? [
          {
            name: "provider",
            title: texts.provider,
            show: (one: Suppression) =>
              one.providerId ? nameOfProvider(providers.data, one.providerId) : <span class="quiet">{texts.none}</span>,
          },
        ]
      : []),
    { name: "since", title: texts.since, show: (one) => <Time at={one.createdAt} /> },
  ];
  const boxes: Column<Suppression> = {
    name: "select",
    title: texts.select,
    show: (one) => (
      <input
        type="checkbox"
        class="box"
        aria-label={texts.selectOne(one.address)}
        checked={selected.has(keyOf(one))}
        onChange={(event) => select(keyOf(one), event.currentTarget.checked)}
      />
    ),
  };
  const actions = actionsColumn<Suppression>((one) => (
    <Button aria-label={texts.removeOne(one.address)} onClick={() => setAsked([one])}>
      {texts.remove}
    </Button>
  ));
  return (
    <>
      {canWrite && (
        <div class="row suppressions-selection">
          <Button kind="quiet" onClick={() => setSelected(chosen.length === 0 ? new Set(rows.map(keyOf)) : new Set())}>
            {chosen.length === 0 ? texts.selectAll : texts.clear}
          </Button>
          {chosen.length > 0 && (
            <Button kind="danger" onClick={() => setAsked(chosen)}>
              {texts.removeSelected(chosen.length)}
            </Button>
          )}
        </div>
      )}
      <Table
        label={texts.table}
        columns={canWrite ? [boxes, ...columns, ...actions] : columns}
        rows={rows}
        rowKey={keyOf}
      />
      {asked && (
        <RemoveQuestion
          asked={asked}
          onRemoved={() => {
            setSelected(new Set());
            onChanged();
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}

function Address({ address }: { address: string }) {
  return isErased(address) ? (
    <span class="quiet" title={address}>
      {texts.erased}
    </span>
  ) : (
    <bdi class="suppressions-address">{address}</bdi>
  );
}

type QuestionProps = { asked: readonly Suppression[]; onRemoved: () => void; onClose: () => void };

const AT_ONCE = 1000;

function RemoveQuestion({ asked, onRemoved, onClose }: QuestionProps) {
  async function remove() {
    let removed = 0;
    for (let first = 0; first < asked.length; first += AT_ONCE) {
      const suppressions = asked.slice(first, first + AT_ONCE).map(({ channel, address }) => ({ channel, address }));
      removed += dataOf(await api.DELETE("/v1/suppressions/bulk", { body: { suppressions } })).removed;
    }
    notify(texts.removed(removed));
    onRemoved();
  }
  return (
    <Confirm title={texts.removeQuestion(asked.length)} action={texts.remove} onConfirm={remove} onClose={onClose}>
      {asked.length === 1 && asked[0] && (
        <p>
          <strong>
            <Address address={asked[0].address} />
          </strong>
        </p>
      )}
      <p>{texts.removeEffect}</p>
    </Confirm>
  );
}
