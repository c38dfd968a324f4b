import { useRoute } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { findDefaultLayout } from "../../email/layouts.ts";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/shell.ts";
import { WorkflowEditor } from "./editor.tsx";

export default function WorkflowPage() {
  const { params } = useRoute();
  const { environment } = useSession();
  const workflowId = params.workflowId ?? "";
  const loaded = useLoaded(`${environment.identifier}/${workflowId}`, async (signal) => {
    const [workflow, schemas, defaultLayout] = await Promise.all([
      api.GET("/v2/workflows/{workflowId}", { params: { path: { workflowId } }, signal }),
      api.GET("/v1/workflows/steps/schemas", { signal }),
      findDefaultLayout(signal),
    ]);
    return { workflow: dataOf(workflow), schemas: dataOf(schemas), defaultLayout };
  });
  if (loaded.data && !loaded.isLoading) {
    const { workflow } = loaded.data;
    return <WorkflowEditor key={workflow._id} {...loaded.data} />;
  }
  return (
    <Page title={texts.pages.workflow}>
      {loaded.error === undefined ? <Loading lines={8} /> : <Problem error={loaded.error} onRetry={loaded.reload} />}
    </Page>
  );
}
