import { useLocation, useRoute } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { type Pages, usePages } from "../../../api/pages.ts";
import type { components } from "../../../api/schema.d.ts";
import { More } from "../../../ui/more.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/versions.ts";
import { VersionDetails } from "./version-details.tsx";

export type PastVersion = components["schemas"]["PastVersion"];

export default function VersionsPage() {
  const { params } = useRoute();
  const workflowId = params.workflowId ?? "";
  const { query } = useLocation();
  const address = useAddress();
  const workflow = useLoaded(`workflow/${workflowId}`, async (signal) =>
    dataOf(await api.GET("/v2/workflows/{workflowId}", { params: { path: { workflowId } }, signal })),
  );
  const pages = usePages<PastVersion>(workflowId, async (next, signal) => {
    const params = { path: { workflowId }, query: { limit: 50, ...(next && { after: next }) } };
    const page = dataOf(await api.GET("/v1/workflows/{workflowId}/versions", { params, signal }));
    return { rows: page.data, next: page.next };
  });
  const chosen = query.version ?? String(pages.rows[0]?.number ?? "");

  if (workflow.error !== undefined) {
    return <Problem error={workflow.error} onRetry={workflow.reload} />;
  }
  const editor = address(`/workflows/${encodeURIComponent(workflowId)}`);
  return (
    <Page
      title={texts.title(workflow.data?.name ?? workflowId)}
      lead={texts.lead}
      back={{ href: editor, label: texts.toEditor }}
    >
      {pages.isFirstLoading || !workflow.data ? (
        <Loading lines={6} />
      ) : (
        <div class="versions">
          <VersionList pages={pages} chosen={chosen} path={`${editor}/versions`} />
          {chosen === "" ? (
            <Empty title={texts.emptyTitle} />
          ) : (
            <VersionDetails
              key={chosen}
              workflow={workflow.data}
              number={chosen}
              onRestored={() => {
                workflow.reload();
                pages.reload();
              }}
            />
          )}
        </div>
      )}
    </Page>
  );
}

type VersionListProps = { pages: Pages<PastVersion>; chosen: string; path: string };

function VersionList({ pages, chosen, path }: VersionListProps) {
  return (
    <nav class="stack" aria-label={texts.list}>
      <ol class="versions-list">
        {pages.rows.map((version) => (
          <li key={version._id}>
            <a
              class="versions-entry"
              href={`${path}?version=${version.number}`}
              {...(String(version.number) === chosen && { "aria-current": "true" as const })}
            >
              <span class="row spread">
                <strong>{texts.version(version.number)}</strong>
                {version.isCurrent && <Status tone="good">{texts.current}</Status>}
              </span>
              {version.summary && <span>{version.summary}</span>}
              <span class="small quiet">
                {version.kind && `${texts.kinds[version.kind]} `}
                {version.author && <bdi>{texts.by(authorOf(version.author))}</bdi>} <Time at={version.createdAt} />
              </span>
            </a>
          </li>
        ))}
      </ol>
      <More pages={pages} />
    </nav>
  );
}

export function authorOf(author: NonNullable<PastVersion["author"]>): string {
  return author.name ?? texts.authors[author.type];
}
