import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { actionsColumn, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { texts } from "../../texts/account.ts";

type Session = components["schemas"]["MemberSession"];

export function OwnSessions() {
  const sessions = useLoaded("sessions", async (signal) => dataOf(await api.GET("/v1/auth/sessions", { signal })));
  const ending = useAction(async (session: Session | null) => {
    if (session) {
      await api.DELETE("/v1/auth/sessions/{sessionId}", { params: { path: { sessionId: session.id } } });
    } else {
      await api.POST("/v1/auth/sessions/revoke-others");
    }
    notify(texts.ended);
    sessions.reload();
  });
  const hasOthers = (sessions.data?.length ?? 0) > 1;
  return (
    <section class="panel stack">
      <div class="row spread">
        <h2>{texts.sessions}</h2>
        {hasOthers && (
          <Button onClick={() => ending.run(null)} busy={ending.isBusy}>
            {texts.endOthers}
          </Button>
        )}
      </div>
      <p class="quiet">{texts.sessionsHint}</p>
      {ending.error !== null && <Problem error={ending.error} />}
      {sessions.error !== undefined && <Problem error={sessions.error} onRetry={sessions.reload} />}
      {!sessions.data && sessions.isLoading && <Loading />}
      {sessions.data && (
        <Table
          label={texts.sessions}
          rows={sessions.data}
          rowKey={(session) => session.id}
          columns={[
            { name: "device", title: texts.device, show: (session) => session.device },
            { name: "address", title: texts.address, show: (session) => session.address ?? "" },
            { name: "seen", title: texts.lastUse, show: (session) => <Time at={session.seenAt} /> },
            { name: "since", title: texts.since, show: (session) => <Time at={session.createdAt} /> },
            ...actionsColumn<Session>((session) =>
              session.current ? (
                <Status tone="good">{texts.here}</Status>
              ) : (
                <Button aria-label={texts.endOf(session.device)} onClick={() => ending.run(session)}>
                  {texts.end}
                </Button>
              ),
            ),
          ]}
        />
      )}
    </section>
  );
}
