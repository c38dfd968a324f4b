import { useCallback, useEffect, useState } from "preact/hooks";
import { currentEntry, findKept, keep } from "./entries.ts";

export type Loaded<Data> = {
  /** What was loaded last; it stays while it is loaded again. */
  data: Data | undefined;
  error: unknown;
  isLoading: boolean;
  reload: () => void;
};

type State<Data> = { key: string; data?: Data | undefined; error?: unknown; isLoading: boolean };

type Options = {
  /** Those who come back to an entry of the history see at once what was shown, while it is loaded again. */
  isKept?: boolean;
};

/** Load what a page shows, again whenever `key` changes; what is not needed any more is aborted. */
export function useLoaded<Data>(
  key: string,
  load: (signal: AbortSignal) => Promise<Data>,
  { isKept = false }: Options = {},
): Loaded<Data> {
  const name = `loaded ${key}`;
  const [state, setState] = useState<State<Data>>(() => ({
    key,
    data: isKept ? findKept<Data>(currentEntry().id, name) : undefined,
    isLoading: true,
  }));
  const [round, setRound] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const entryId = currentEntry().id;
    const before = isKept ? findKept<Data>(entryId, name) : undefined;
    setState((now) => ({ key, data: before ?? now.data, isLoading: true }));
    function end(loaded: { data: Data } | { error: unknown }) {
      if (controller.signal.aborted) {
        return;
      }
      if (isKept && "data" in loaded) {
        keep(entryId, name, loaded.data);
      }
      setState({ key, ...loaded, isLoading: false });
    }
    load(controller.signal).then(
      (data) => end({ data }),
      (error) => end({ error }),
    );
    return () => controller.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((number) => number + 1), []);
  return { data: state.data, error: state.error, isLoading: state.isLoading, reload };
}
