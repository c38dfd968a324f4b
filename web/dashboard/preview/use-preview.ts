/** The rendered texts of a step: asked for after a pause in typing; the last ones stay until others come. */
import { useEffect, useRef, useState } from "preact/hooks";
import { api, dataOf } from "../../api/client.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { components } from "../../api/schema.d.ts";

export type PreviewRequest = components["schemas"]["UnsavedPreviewIn"];

export type Preview = {
  /** The rendered controls; null before the first answer. */
  shown: Record<string, unknown> | null;
  /** The server's sentences, by the paths of the controls. */
  problems: Record<string, string>;
  error: unknown;
  isLoading: boolean;
  retry: () => void;
};

/** The first texts come at once. */
const TYPING_PAUSE = 300;
const PREFIX = "controlValues.";

export function usePreview(request: PreviewRequest): Preview {
  const [state, setState] = useState<Omit<Preview, "retry">>({
    shown: null,
    problems: {},
    error: null,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  const isFirst = useRef(true);
  const key = JSON.stringify(request);
  useEffect(() => {
    const controller = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    const timer = setTimeout(
      async () => {
        try {
          const shown = await loadPreview(request, controller.signal);
          setState({ shown, problems: {}, error: null, isLoading: false });
        } catch (error) {
          if (!controller.signal.aborted) {
            setState((before) => ({ ...before, ...explain(error), isLoading: false }));
          }
        }
      },
      isFirst.current ? 0 : TYPING_PAUSE,
    );
    isFirst.current = false;
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key, round]);
  return { ...state, retry: () => setRound((number) => number + 1) };
}

async function loadPreview(request: PreviewRequest, signal: AbortSignal): Promise<Record<string, unknown>> {
  return dataOf(await api.POST("/v1/workflows/steps/preview", { body: request, signal })).result.preview;
}

/** Sentences about controls belong beside them; everything else is an error of the whole. */
function explain(error: unknown): Pick<Preview, "problems" | "error"> {
  const fields = error instanceof ApiProblem ? Object.entries(error.fields) : [];
  const problems = fields
    .filter(([path]) => path.startsWith(PREFIX))
    .map(([path, sentence]) => [path.slice(PREFIX.length), sentence]);
  return problems.length > 0 ? { problems: Object.fromEntries(problems), error: null } : { problems: {}, error };
}
