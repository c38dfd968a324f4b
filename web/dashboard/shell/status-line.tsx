import { useEffect, useRef, useState } from "preact/hooks";
import { api, dataOf } from "../../api/client.ts";
import { ToneMark } from "../../ui/status.tsx";
import { useSession } from "../session.ts";
import { texts } from "../texts/shell.ts";
import { type EnvironmentStatus, summarize } from "./status.ts";

const INTERVAL = 15_000;
const words = texts.status;

/** Whether the service answers, whether it keeps up, and which version it is. */
export function StatusLine() {
  const { environment } = useSession();
  const { status, isConnected } = useStatus(environment.identifier);
  const first = useRef<string>();
  first.current ??= status?.version;
  const summary = status && summarize(status);
  return (
    <footer class="shell-status">
      <span class="status-part" role="status">
        {isConnected !== undefined && (
          <>
            <ToneMark tone={isConnected ? "good" : "bad"} /> {isConnected ? words.connected : words.disconnected}
          </>
        )}
      </span>
      {summary && isConnected && (
        <span class="status-part" title={summary.details}>
          {summary.tone !== "good" && <ToneMark tone={summary.tone} />} {summary.text}
        </span>
      )}
      {status && (
        <span class="status-part status-end">
          {status.version === first.current ? (
            words.version(status.version)
          ) : (
            <button type="button" class="link" onClick={() => location.reload()}>
              {words.newVersion}
            </button>
          )}
        </span>
      )}
    </footer>
  );
}

/** The status, read again every so often while somebody can see it. */
function useStatus(environment: string) {
  const [status, setStatus] = useState<EnvironmentStatus>();
  const [isConnected, setConnected] = useState<boolean>();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setStatus(undefined);
    async function read() {
      if (document.visibilityState !== "visible") {
        return;
      }
      try {
        const answer = await api.GET("/v1/status", { signal });
        setStatus(dataOf(answer));
        setConnected(true);
      } catch {
        if (!signal.aborted) {
          setConnected(false);
        }
      }
    }
    void read();
    const timer = setInterval(read, INTERVAL);
    document.addEventListener("visibilitychange", read, { signal });
    addEventListener("online", read, { signal });
    addEventListener("offline", () => setConnected(false), { signal });
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [environment]);
  return { status, isConnected };
}
