import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Form } from "../../../ui/form.tsx";
import { LeaveGuard } from "../../../ui/leave-guard.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Time } from "../../../ui/time.tsx";
import { JsonField } from "../../schema-form/json-field.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/contexts.ts";
import { isObject, isSame } from "../../values.ts";

type Context = components["schemas"]["Context"];

export default function ContextPage() {
  const { params } = useRoute();
  const address = useAddress();
  const canWrite = useCan("contexts:write");
  const [isDeleting, setDeleting] = useState(false);
  const { route } = useLocation();
  const path = { contextType: params.contextType ?? "", contextId: params.contextId ?? "" };
  const loaded = useLoaded(`context ${path.contextType}/${path.contextId}`, async (signal) =>
    dataOf(await api.GET("/v2/contexts/{contextType}/{contextId}", { params: { path }, signal })),
  );
  const context = loaded.data;
  const actions = canWrite && context && <Button onClick={() => setDeleting(true)}>{texts.delete}</Button>;
  return (
    <Page
      title={path.contextId}
      back={{ href: address("/contexts"), label: texts.back }}
      lead={<code>{path.contextType}</code>}
      actions={actions}
    >
      {loaded.error !== undefined && <Problem error={loaded.error} onRetry={loaded.reload} />}
      {!context && loaded.error === undefined && <Loading lines={6} />}
      {context && <DataForm key={context.updatedAt} context={context} onSaved={loaded.reload} />}
      {isDeleting && (
        <Confirm
          title={texts.deleteTitle(path.contextId)}
          action={texts.delete}
          isDangerous
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await api.DELETE("/v2/contexts/{contextType}/{contextId}", { params: { path } });
            notify(texts.deleted(path.contextId));
            route(address("/contexts"));
          }}
        >
          <p>{texts.deleteHint}</p>
        </Confirm>
      )}
    </Page>
  );
}

function DataForm({ context, onSaved }: { context: Context; onSaved: () => Promise<void> }) {
  const canWrite = useCan("contexts:write");
  const [data, setData] = useState(context.data);
  const isDirty = !isSame(data, context.data);
  const saving = useAction(async () => {
    const path = { contextType: context.type, contextId: context.id };
    await api.PATCH("/v2/contexts/{contextType}/{contextId}", { params: { path }, body: { data } });
    notify(texts.saved);
    await onSaved();
  });
  return (
    <>
      {!canWrite && <p class="document-note">{texts.readOnly}</p>}
      <Form
        action={saving}
        {...(canWrite && { submit: texts.save })}
        isReady={isDirty}
        beside={
          <span class="small quiet">
            {texts.updated} <Time at={context.updatedAt} />
          </span>
        }
        class="panel stack"
      >
        <JsonField
          label={texts.data}
          hint={texts.dataHint(context.type)}
          value={data}
          onValue={(value) => setData(isObject(value) ? value : {})}
          problem={saving.fields.data}
          disabled={!canWrite}
          isObjectWanted
          rows={16}
        />
      </Form>
      <LeaveGuard isActive={isDirty} />
    </>
  );
}
