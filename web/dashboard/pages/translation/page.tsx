import { useRoute } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/shell.ts";
import { TranslationPageOf } from "./editor.tsx";
import { loadContents, type Resource } from "./use-translation.ts";

export default function TranslationPage() {
  const { params } = useRoute();
  const { environment } = useSession();
  const resource = { resourceType: params.resourceType, resourceId: params.resourceId ?? "" } as Resource;
  const key = `${environment.identifier}/${resource.resourceType}/${resource.resourceId}`;
  const loaded = useLoaded(key, async (signal) => {
    const path = "/v2/translations/group/{resourceType}/{resourceId}";
    const group = dataOf(await api.GET(path, { params: { path: resource }, signal }));
    const contents = await loadContents(resource, group.locales, signal);
    return { group, translation: { ...resource, locales: group.locales, contents, savedAt: group.updatedAt } };
  });
  if (loaded.data && !loaded.isLoading) {
    return <TranslationPageOf key={key} name={loaded.data.group.resourceName} translation={loaded.data.translation} />;
  }
  return (
    <Page title={texts.pages.translation}>
      {loaded.error === undefined ? <Loading lines={8} /> : <Problem error={loaded.error} onRetry={loaded.reload} />}
    </Page>
  );
}
