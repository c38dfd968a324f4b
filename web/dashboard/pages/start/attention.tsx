import type { ComponentChildren } from "preact";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { type Tone, ToneMark } from "../../../ui/status.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/start.ts";

const words = texts.overview;
const MOST_WORKFLOWS = 5;

/** Dead letters, integrations that fail, workflows that cannot run. */
export function Attention() {
  const loaded = useLoaded("attention", load);
  return (
    <section class="panel stack" aria-labelledby="start-attention">
      <h2 id="start-attention">{words.attention}</h2>
      {loaded.error !== undefined && <Problem error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && !loaded.error && <Loading lines={4} />}
      {loaded.data && <Findings {...loaded.data} />}
    </section>
  );
}

async function load(signal: AbortSignal) {
  const query = { status: ["ERROR" as const], limit: MOST_WORKFLOWS };
  const [status, broken] = await Promise.all([
    api.GET("/v1/status", { signal }),
    api.GET("/v2/workflows", { params: { query }, signal }),
  ]);
  return { status: dataOf(status), broken: dataOf(broken) };
}

function Findings({ status, broken }: Awaited<ReturnType<typeof load>>) {
  const failing = status.failingIntegrations ?? [];
  const others = broken.totalCount - broken.workflows.length;
  if (status.deadLetters === 0 && failing.length === 0 && broken.totalCount === 0) {
    return (
      <p class="row">
        <ToneMark tone="good" /> {words.fine}
      </p>
    );
  }
  return (
    <ul class="start-findings">
      {status.deadLetters > 0 && (
        <Finding
          tone="bad"
          path="/dead-letters"
          title={words.deadLetters(status.deadLetters, status.deadLettersCapped)}
          hint={words.deadLettersHint}
        />
      )}
      {failing.map((one) => (
        <Finding
          key={one._id}
          tone={one.isOpen ? "bad" : "warn"}
          path={`/integrations/${one._id}`}
          title={words.failing(one.name)}
          hint={words.failingHint(one.failures, one.isOpen)}
        />
      ))}
      {broken.workflows.map((one) => (
        <Finding
          key={one._id}
          tone="warn"
          path={`/workflows/${encodeURIComponent(one.workflowId)}`}
          title={words.problems(one.name)}
          hint={words.problemsHint}
        />
      ))}
      {others > 0 && <Finding tone="warn" path="/workflows?status=ERROR" title={words.moreProblems(others)} />}
    </ul>
  );
}

type FindingProps = { tone: Tone; path: string; title: ComponentChildren; hint?: string };

function Finding({ tone, path, title, hint }: FindingProps) {
  const address = useAddress();
  return (
    <li>
      <ToneMark tone={tone} />
      <div>
        <a href={address(path)}>
          <bdi>{title}</bdi>
        </a>
        {hint && <p class="small quiet">{hint}</p>}
      </div>
    </li>
  );
}
