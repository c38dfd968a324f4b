/** Something that a person does: it runs once at a time, and says why it failed. */
import { useCallback, useState } from "preact/hooks";
import { ApiProblem } from "./problem.ts";

export type Action<Arguments extends unknown[]> = {
  run: (...values: Arguments) => Promise<void>;
  isBusy: boolean;
  error: unknown;
  /** The server's sentences about single fields, by their paths. */
  fields: Record<string, string>;
  clear: () => void;
};

export function useAction<Arguments extends unknown[]>(
  perform: (...values: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function run(...values: Arguments) {
    if (isBusy) {
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await perform(...values);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  }
  const clear = useCallback(() => setError(null), []);
  return { run, isBusy, error, fields: error instanceof ApiProblem ? error.fields : {}, clear };
}
