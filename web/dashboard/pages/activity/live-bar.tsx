import { Button } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { type Tone, ToneMark } from "../../../ui/status.tsx";
import { texts } from "../../texts/activity.ts";
import type { Connection } from "./feed.ts";
import type { Tail } from "./model.ts";
import type { LiveList } from "./use-feed.ts";

type LiveBarProps = {
  list: LiveList;
  tail: Tail;
  isPaused: boolean;
  onPause: (isPaused: boolean) => void;
  onShowNew: () => void;
  onGoLive: () => void;
};

/** What the list does now: live, paused or fixed, and the runs that wait to be shown. */
export function LiveBar({ list, tail, isPaused, onPause, onShowNew, onGoLive }: LiveBarProps) {
  return (
    <div class="activity-live">
      <div class="row">
        <State connection={list.connection} isLive={list.isLive} isPaused={isPaused} />
        {list.isLive ? (
          <Button onClick={() => onPause(!isPaused)}>{isPaused ? texts.resume : texts.pause}</Button>
        ) : (
          <Button onClick={onGoLive}>{texts.goLive}</Button>
        )}
        {tail.heldCount > 0 && (
          <Button kind="primary" onClick={onShowNew}>
            {texts.newRuns(tail.heldCount, tail.leftOut > 0)}
          </Button>
        )}
      </div>
      <p class="small quiet activity-shown">{texts.shown(tail.rows.length)}</p>
      <StreamWords list={list} tail={tail} />
    </div>
  );
}

const TONES: Record<Connection, Tone> = { off: "plain", connecting: "wait", live: "good", lost: "warn" };

function State({ connection, isLive, isPaused }: { connection: Connection; isLive: boolean; isPaused: boolean }) {
  const words = { off: texts.connecting, connecting: texts.connecting, live: texts.live, lost: texts.lost };
  if (!isLive) {
    return <p class="quiet">{texts.fixed}</p>;
  }
  return (
    <p class="activity-state" role="status">
      <ToneMark tone={isPaused ? "plain" : TONES[connection]} />
      <span>{isPaused ? texts.paused : words[connection]}</span>
    </p>
  );
}

/** What the stream did not send, in words. */
function StreamWords({ list, tail }: { list: LiveList; tail: Tail }) {
  return (
    <>
      {list.streamError !== null && <Problem error={list.streamError} onRetry={list.reload} />}
      {tail.leftOut > 0 && <p class="activity-note small quiet">{texts.leftOut(tail.leftOut)}</p>}
      {tail.missed && (
        <p class="activity-note small">
          {texts.missed(tail.missed.count, tail.missed.atLeast)}{" "}
          <Button kind="quiet" onClick={list.reload}>
            {texts.reload}
          </Button>
        </p>
      )}
    </>
  );
}
