import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { currentEntry, findKept, keep } from "./entries.ts";

export type Loaded<Data> = {
  /** What was loaded last; it stays while it is loaded again. */
  data: Data | undefined;
  error: unknown;
  isLoading: boolean;
  /** Load it again; what is awaited ends when that is over, so that a form that closes then is opened on what it stored. */
  reload: () => Promise<void>;
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
  const running = useRef<AbortController>(null);
  const waiting = useRef<(() => void)[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    running.current = controller;
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
      for (const resolve of waiting.current.splice(0)) {
        resolve();
      }
    }
    load(controller.signal).then(
      (data) => end({ data }),
      (error) => end({ error }),
    );
    return () => controller.abort();
  }, [key, round]);
  const reload = useCallback(() => {
    running.current?.abort();
    setRound((number) => number + 1);
    return new Promise<void>((resolve) => waiting.current.push(resolve));
  }, []);
  return { data: state.data, error: state.error, isLoading: state.isLoading, reload };
}
