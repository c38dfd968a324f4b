import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { CheckField } from "../../../ui/field.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { Table } from "../../../ui/table.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts as runs } from "../../texts/runs.ts";
import { preferenceTexts as texts } from "../../texts/subscriber.ts";
import type { PartProps } from "./part.ts";
import {
  CHANNELS,
  type Channel,
  contextKeysOf,
  contextOf,
  type PreferenceRow,
  preferenceRows,
  usedChannels,
} from "./preference-rows.ts";
import { TopicRules } from "./topic-rules.tsx";

type Change = { channel: Channel; isOn: boolean; workflowId?: string };

/** Every switch, with who decides it. */
export function PreferencesPart({ subscriber }: PartProps) {
  const canWrite = useCan("preferences:write");
  const path = { subscriberId: subscriber.subscriberId };
  const contextKeys = contextKeysOf(useUrlState().get("q"));
  const inContext = contextKeys.length > 0;
  const loaded = useLoaded(`preferences ${subscriber._id} ${contextKeys.join()}`, async (signal) => {
    const load = (criticality: "critical" | "nonCritical") => {
      const query = { criticality, ...(inContext && { contextKeys }) };
      return api.GET("/v2/subscribers/{subscriberId}/preferences", { params: { path, query }, signal });
    };
    const [ordinary, critical] = (await Promise.all([load("nonCritical"), load("critical")])).map(dataOf);
    return { everything: ordinary?.global, rows: preferenceRows(ordinary?.workflows ?? [], critical?.workflows ?? []) };
  });
  const changing = useAction(async ({ channel, isOn, workflowId }: Change) => {
    await api.PATCH("/v2/subscribers/{subscriberId}/preferences", {
      params: { path },
      body: {
        channels: { [channel]: isOn },
        ...(workflowId !== undefined && { workflowId }),
        ...(inContext && { context: contextOf(contextKeys) }),
      },
    });
    notify(texts.saved(runs.channels[channel], isOn));
    loaded.reload();
  });
  const chooser = (
    <div class="toolbar">
      <SearchBox label={texts.context} placeholder={texts.contextHint} />
    </div>
  );
  if (loaded.error) {
    return (
      <>
        {chooser}
        <Problem error={loaded.error} onRetry={loaded.reload} />
      </>
    );
  }
  if (!loaded.data?.everything) {
    return (
      <>
        {chooser}
        <Loading lines={8} />
      </>
    );
  }
  const { everything, rows } = loaded.data;
  return (
    <>
      {chooser}
      {inContext && <p class="quiet">{texts.contextShown(contextKeys.join(", "))}</p>}
      {changing.error !== null && <Problem error={changing.error} />}
      <Section title={texts.all} hint={texts.allHint}>
        <div class="subscriber-switches panel">
          {CHANNELS.filter((channel) => everything.channels[channel] !== undefined).map((channel) => (
            <CheckField
              key={channel}
              isSwitch
              disabled={!canWrite || changing.isBusy}
              checked={everything.channels[channel] === true}
              onChecked={(isOn) => void changing.run({ channel, isOn })}
              label={
                <>
                  <span class="visually-hidden">{texts.everywhere}</span>
                  {runs.channels[channel]}
                </>
              }
            />
          ))}
          {Object.keys(everything.channels).length === 0 && <p class="quiet">{texts.noChannels}</p>}
        </div>
      </Section>
      <Section title={texts.workflows}>
        {rows.length === 0 ? (
          <Empty title={texts.none}>
            <p class="quiet">{texts.noneHint}</p>
          </Empty>
        ) : (
          <WorkflowTable
            rows={rows}
            isLocked={!canWrite || changing.isBusy}
            onChange={(change) => void changing.run(change)}
          />
        )}
      </Section>
      <TopicRules subscriber={subscriber} />
      <Section title={texts.order} hint={texts.orderHint}>
        <ol class="subscriber-layers">
          {texts.orderSteps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      </Section>
    </>
  );
}

function Section({ title, hint, children }: { title: string; hint?: string; children: ComponentChildren }) {
  const id = useId();
  return (
    <section class="stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {hint && <p class="quiet">{hint}</p>}
      {children}
    </section>
  );
}

type WorkflowTableProps = {
  rows: readonly PreferenceRow[];
  isLocked: boolean;
  onChange: (change: Change) => void;
};

function WorkflowTable({ rows, isLocked, onChange }: WorkflowTableProps) {
  const address = useAddress();
  const columns = [
    {
      name: "workflow",
      title: texts.workflow,
      show: (row: PreferenceRow) => (
        <span class="row">
          <a href={address(`/workflows/${encodeURIComponent(row.workflowId)}`)}>
            <bdi>{row.name}</bdi>
          </a>
          {row.isCritical && <Status tone="warn">{texts.critical}</Status>}
        </span>
      ),
    },
    ...usedChannels(rows).map((channel) => ({
      name: channel,
      title: runs.channels[channel],
      show: (row: PreferenceRow) => {
        const found = row.switches.find((one) => one.channel === channel);
        return (
          found && (
            <CheckField
              isSwitch
              disabled={isLocked || !found.canChange}
              checked={found.isOn}
              onChecked={(isOn) => onChange({ channel, isOn, workflowId: row.workflowId })}
              label={
                <>
                  <span class="visually-hidden">{texts.of(runs.channels[channel], row.name)}</span>
                  {found.isOn ? texts.on : texts.off}
                </>
              }
              hint={found.reason}
            />
          )
        );
      },
    })),
  ];
  return <Table label={texts.workflows} columns={columns} rows={rows} rowKey={(row) => row.workflowId} />;
}
