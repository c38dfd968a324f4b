/** The rendered texts of a step; the last ones stay until others come. */
import { api, dataOf } from "../../api/client.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { components } from "../../api/schema.d.ts";
import { useRendered } from "./use-rendered.ts";

export type PreviewRequest = components["schemas"]["UnsavedPreviewIn"];

export type Preview = {
  /** The rendered controls; null before the first answer. */
  shown: Record<string, unknown> | null;
  /** The server's sentences, by the paths of the controls. */
  problems: Record<string, string>;
  /** Keys of texts that are shown themselves. */
  missingTexts: readonly string[];
  error: unknown;
  isLoading: boolean;
  retry: () => void;
};

const PREFIX = "controlValues.";

export function usePreview(request: PreviewRequest): Preview {
  const { data, error, isLoading, retry } = useRendered(request, async (signal) =>
    dataOf(await api.POST("/v1/workflows/steps/preview", { body: request, signal })),
  );
  const { result, missingTexts = [] } = data ?? {};
  return { shown: result?.preview ?? null, missingTexts, ...explain(error), isLoading, retry };
}

/** Sentences about controls belong beside them; everything else is an error of the whole. */
function explain(error: unknown): Pick<Preview, "problems" | "error"> {
  const fields = error instanceof ApiProblem ? Object.entries(error.fields) : [];
  const problems = fields
    .filter(([path]) => path.startsWith(PREFIX))
    .map(([path, sentence]) => [path.slice(PREFIX.length), sentence]);
  return problems.length > 0 ? { problems: Object.fromEntries(problems), error: null } : { problems: {}, error };
}
