import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Tag } from "../../../ui/status.tsx";
import { actionsColumn, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { addressOf } from "../../addresses.ts";
import { useCan, useSession } from "../../session.ts";
import { texts } from "../../texts/environments.ts";
import { NewEnvironment } from "./new-environment.tsx";
import { EnvironmentSettings } from "./settings.tsx";

type Environment = components["schemas"]["Environment"];
type Open = { dialog: "new" } | { dialog: "settings" | "delete"; environment: Environment } | null;

export default function EnvironmentsPage() {
  const { me, environment: current } = useSession();
  const canChange = useCan("environments:write");
  const isOwner = me.member.role === "owner";
  const [open, setOpen] = useState<Open>(null);
  const environments = useLoaded("environments", async (signal) =>
    dataOf(await api.GET("/v1/environments", { signal })),
  );
  const close = () => setOpen(null);

  function showName(one: Environment) {
    return (
      <>
        <a href={addressOf(one.identifier, "/")}>
          <bdi>{one.name}</bdi>
        </a>{" "}
        {one._id === current._id && <Tag>{texts.here}</Tag>}
      </>
    );
  }

  function showActions(one: Environment) {
    return (
      <div class="row">
        <Button
          aria-label={texts.settingsOf(one.name)}
          onClick={() => setOpen({ dialog: "settings", environment: one })}
        >
          {texts.settings}
        </Button>
        {isOwner && one._id !== current._id && (
          <Button
            kind="danger"
            aria-label={texts.removeTitle(one.name)}
            onClick={() => setOpen({ dialog: "delete", environment: one })}
          >
            {texts.remove}
          </Button>
        )}
      </div>
    );
  }

  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        isOwner && (
          <Button kind="primary" onClick={() => setOpen({ dialog: "new" })}>
            {texts.create}
          </Button>
        )
      }
    >
      {environments.error !== undefined && <Problem error={environments.error} onRetry={environments.reload} />}
      {!environments.data && environments.isLoading && <Loading />}
      {environments.data && (
        <Table
          label={texts.label}
          rows={environments.data}
          rowKey={(one) => one._id}
          columns={[
            { name: "name", title: texts.name, show: showName },
            {
              name: "type",
              title: texts.type,
              show: (one) => <Tag isLoud={one.type === "prod"}>{texts.types[one.type]}</Tag>,
            },
            { name: "identifier", title: texts.identifier, show: (one) => <code>{one.identifier}</code> },
            { name: "created", title: texts.created, show: (one) => <Time at={one.createdAt} /> },
            ...actionsColumn(canChange && showActions),
          ]}
        />
      )}
      {open?.dialog === "new" && <NewEnvironment onClose={close} onCreated={environments.reload} />}
      {open?.dialog === "settings" && (
        <EnvironmentSettings environment={open.environment} onClose={close} onSaved={environments.reload} />
      )}
      {open?.dialog === "delete" && (
        <Confirm
          title={texts.removeTitle(open.environment.name)}
          action={texts.remove}
          isDangerous
          typed={open.environment.name}
          onClose={close}
          onConfirm={async () => {
            const { _id: environmentId, name: confirm } = open.environment;
            const params = { path: { environmentId }, query: { confirm } };
            await api.DELETE("/v1/environments/{environmentId}", { params });
            notify(texts.removed);
            environments.reload();
          }}
        >
          <p>{texts.removeHint}</p>
        </Confirm>
      )}
    </Page>
  );
}
