import { useRoute } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/shell.ts";
import { LayoutEditorPage } from "./editor.tsx";

export default function LayoutPage() {
  const { params } = useRoute();
  const { environment } = useSession();
  const layoutId = params.layoutId ?? "";
  const loaded = useLoaded(`${environment.identifier}/${layoutId}`, async (signal) =>
    dataOf(await api.GET("/v2/layouts/{layoutId}", { params: { path: { layoutId } }, signal })),
  );
  if (loaded.data && !loaded.isLoading) {
    return <LayoutEditorPage key={loaded.data._id} layout={loaded.data} />;
  }
  return (
    <Page title={texts.pages.layout}>
      {loaded.error === undefined ? <Loading lines={8} /> : <Problem error={loaded.error} onRetry={loaded.reload} />}
    </Page>
  );
}
