import { useRoute } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/segments.ts";
import { SegmentEditor } from "./editor.tsx";

export default function SegmentPage() {
  const segmentKey = useRoute().params.segmentKey ?? "";
  const address = useAddress();
  const loaded = useLoaded(`segment ${segmentKey}`, async (signal) =>
    dataOf(await api.GET("/v1/segments/{segmentKey}", { params: { path: { segmentKey } }, signal })),
  );
  if (loaded.data && !loaded.isLoading) {
    return <SegmentEditor key={loaded.data._id} segment={loaded.data} />;
  }
  return (
    <Page title={segmentKey} back={{ href: address("/segments"), label: texts.toList }}>
      {loaded.error === undefined ? <Loading lines={6} /> : <Problem error={loaded.error} onRetry={loaded.reload} />}
    </Page>
  );
}
