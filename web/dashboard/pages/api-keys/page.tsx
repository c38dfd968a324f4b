import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { actionsColumn, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { useRequested } from "../../requested.ts";
import { useCan } from "../../session.ts";
import { texts } from "../../texts/api-keys.ts";
import { EditKey } from "./edit-key.tsx";
import { isOver, scopesText } from "./model.ts";
import { NewKey } from "./new-key.tsx";

type ApiKey = components["schemas"]["ApiKey"];
type Open = { dialog: "new" } | { dialog: "edit" | "revoke"; key: ApiKey } | null;

export default function ApiKeysPage() {
  const keys = useLoaded("api-keys", async (signal) => dataOf(await api.GET("/v1/environments/api-keys", { signal })));
  const canWrite = useCan("environments:write");
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  useRequested("create", canWrite, () => setOpen({ dialog: "new" }));
  const create = (
    <Button kind="primary" onClick={() => setOpen({ dialog: "new" })}>
      {texts.create}
    </Button>
  );

  return (
    <Page title={texts.title} lead={texts.lead} actions={canWrite && create}>
      {keys.error !== undefined && <Problem error={keys.error} onRetry={keys.reload} />}
      {!keys.data && keys.isLoading && <Loading />}
      {keys.data?.length === 0 && (
        <Empty title={texts.emptyTitle}>
          <p class="quiet">{texts.emptyHint}</p>
          {canWrite && create}
        </Empty>
      )}
      {keys.data && keys.data.length > 0 && (
        <Table
          label={texts.label}
          rows={keys.data}
          rowKey={(key) => key._id}
          columns={[
            { name: "name", title: texts.name, show: (key) => <bdi>{key.name}</bdi> },
            { name: "key", title: texts.key, show: (key) => <code>{`…${key.hint}`}</code> },
            { name: "scopes", title: texts.scopes, show: (key) => scopesText(key.scopes) },
            { name: "used", title: texts.lastUsed, show: (key) => <LastUse apiKey={key} /> },
            { name: "expires", title: texts.expires, show: (key) => <Expiry apiKey={key} /> },
            { name: "created", title: texts.created, show: (key) => <Time at={key.createdAt} /> },
            ...actionsColumn(canWrite && ((key: ApiKey) => <Actions apiKey={key} onOpen={setOpen} />)),
          ]}
        />
      )}
      {open?.dialog === "new" && <NewKey onClose={close} onCreated={keys.reload} />}
      {open?.dialog === "edit" && <EditKey apiKey={open.key} onClose={close} onSaved={keys.reload} />}
      {open?.dialog === "revoke" && (
        <Confirm
          title={texts.revokeTitle(open.key.name)}
          action={texts.revoke}
          isDangerous
          onClose={close}
          onConfirm={async () => {
            const params = { path: { apiKeyId: open.key._id } };
            await api.DELETE("/v1/environments/api-keys/{apiKeyId}", { params });
            notify(texts.revoked);
            keys.reload();
          }}
        >
          <p>{texts.revokeHint}</p>
        </Confirm>
      )}
    </Page>
  );
}

function LastUse({ apiKey }: { apiKey: ApiKey }) {
  return apiKey.lastUsedAt ? <Time at={apiKey.lastUsedAt} /> : <span class="quiet">{texts.notUsed}</span>;
}

function Expiry({ apiKey }: { apiKey: ApiKey }) {
  if (!apiKey.expiresAt) {
    return <span class="quiet">{texts.never}</span>;
  }
  return isOver(apiKey.expiresAt, Date.now()) ? (
    <Status tone="bad">{texts.expired}</Status>
  ) : (
    <Time at={apiKey.expiresAt} />
  );
}

function Actions({ apiKey, onOpen }: { apiKey: ApiKey; onOpen: (open: Open) => void }) {
  return (
    <div class="row">
      <Button aria-label={texts.keyOf(apiKey.name, texts.edit)} onClick={() => onOpen({ dialog: "edit", key: apiKey })}>
        {texts.edit}
      </Button>
      <Button
        kind="danger"
        aria-label={texts.keyOf(apiKey.name, texts.revoke)}
        onClick={() => onOpen({ dialog: "revoke", key: apiKey })}
      >
        {texts.revoke}
      </Button>
    </div>
  );
}
