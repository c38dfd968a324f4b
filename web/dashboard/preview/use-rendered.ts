/** What the server renders of something that is being written: asked for after a pause in typing. */
import { useEffect, useRef, useState } from "preact/hooks";

export type Rendered<Data> = {
  /** The last answer, which stays until another one comes; undefined before the first. */
  data: Data | undefined;
  /** Why the latest could not be rendered; null if it could. */
  error: unknown;
  isLoading: boolean;
  retry: () => void;
};

/** The first answer comes at once. */
const TYPING_PAUSE = 300;

export function useRendered<Data>(request: unknown, load: (signal: AbortSignal) => Promise<Data>): Rendered<Data> {
  const [state, setState] = useState<Omit<Rendered<Data>, "retry">>({ data: undefined, error: null, isLoading: true });
  const [round, setRound] = useState(0);
  const isFirst = useRef(true);
  const key = JSON.stringify(request);
  useEffect(() => {
    const controller = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    const timer = setTimeout(
      async () => {
        try {
          const data = await load(controller.signal);
          setState({ data, error: null, isLoading: false });
        } catch (error) {
          if (!controller.signal.aborted) {
            setState((before) => ({ ...before, error, isLoading: false }));
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
