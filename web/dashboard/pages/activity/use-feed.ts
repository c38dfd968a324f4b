import { useEffect, useRef, useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { currentEntry, findKept, keep } from "../../../api/entries.ts";
import { Feed, type FeedState, type LeftFeed, stateOf } from "./feed.ts";
import { type Filters, parametersOf, queryTextOf } from "./filters.ts";
import { PAGE_SIZE } from "./model.ts";
import { boundsOf, endsNow, type Range } from "./range.ts";

/** A tab in the background does not listen for longer than that. */
const HIDDEN_FOR = 60_000;

export type LiveList = FeedState & {
  isLive: boolean;
  loadMore: () => void;
  reload: () => void;
  refresh: () => void;
  /** How many events the stream has sent. */
  countEvents: () => number;
};

/** The runs of a range and of filters, from the head again whenever one of these changes. */
export function useFeed(filters: Filters, range: Range, isHeld: boolean): LiveList {
  const isShown = useIsShown();
  const isLive = isShown && endsNow(range, Date.now());
  const key = JSON.stringify([queryTextOf(filters), range]);
  const name = `runs ${key}`;
  const [state, setState] = useState<FeedState>(() => stateOf(findKept<LeftFeed>(currentEntry().id, name)));
  const [round, setRound] = useState(0);
  const feed = useRef<Feed>(null);
  const isReloading = useRef(false);

  useEffect(() => {
    const entryId = currentEntry().id;
    const left = isReloading.current ? undefined : findKept<LeftFeed>(entryId, name);
    isReloading.current = false;
    const bounds = boundsOf(range, Date.now());
    const query = { ...parametersOf(filters), ...bounds, limit: PAGE_SIZE };
    const current = new Feed({
      loadPage: async (cursor, signal) => {
        const params = { query: cursor === null ? query : { ...query, cursor } };
        return dataOf(await api.GET("/v1/runs", { params, signal }));
      },
      stream: isLive ? `/v1/runs/stream?${queryTextOf(filters)}` : null,
      left,
      // Rows stay until others take their place.
      onState: (next) => setState((before) => ({ ...next, tail: next.tail ?? before.tail })),
    });
    feed.current = current;
    current.hold(isHeld);
    current.start();
    return () => keep(entryId, name, current.stop());
  }, [key, isLive, round]);

  useEffect(() => feed.current?.hold(isHeld), [isHeld]);

  return {
    ...state,
    isLive,
    loadMore: () => void feed.current?.loadMore(),
    reload: () => {
      isReloading.current = true;
      setRound((number) => number + 1);
    },
    refresh: () => void feed.current?.refresh(),
    countEvents: () => feed.current?.events ?? 0,
  };
}

function useIsShown(): boolean {
  const [isShown, setShown] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    function look() {
      clearTimeout(timer);
      if (document.hidden) {
        timer = setTimeout(() => setShown(false), HIDDEN_FOR);
      } else {
        setShown(true);
      }
    }
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  return isShown;
}
