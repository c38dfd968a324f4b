import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { download } from "../../../ui/download.ts";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { nameOf } from "../../parts/person.ts";
import { useAddress, useCan } from "../../session.ts";
import { dataTexts as texts } from "../../texts/subscriber.ts";
import type { PartProps } from "./part.ts";

type ExportItem = components["schemas"]["ExportItem"];

/** Hand out everything that is stored of a person, or erase it. */
export function PersonalDataPart(props: PartProps) {
  return (
    <div class="stack people-narrow">
      <Export {...props} />
      {useCan("subscribers:write") && <Erase {...props} />}
    </div>
  );
}

function Export({ subscriber }: PartProps) {
  const [count, setCount] = useState<number | null>(null);
  const exporting = useAction(async () => {
    setCount(0);
    const data: ExportItem[] = [];
    let after: string | null = null;
    do {
      const page: components["schemas"]["Export"] = dataOf(
        await api.GET("/v2/subscribers/{subscriberId}/export", {
          params: {
            path: { subscriberId: subscriber.subscriberId },
            query: { limit: 1000, ...(after !== null && { after }) },
          },
        }),
      );
      data.push(...page.data);
      setCount(data.length);
      after = page.next;
    } while (after !== null);
    const document = { subscriberId: subscriber.subscriberId, exportedAt: new Date().toISOString(), data };
    download(`${fileName(subscriber.subscriberId)}.json`, JSON.stringify(document, null, 2), "application/json");
  });
  return (
    <section class="panel stack" aria-labelledby="data-export">
      <h2 id="data-export">{texts.export}</h2>
      <p class="quiet">{texts.exportHint}</p>
      {exporting.error !== null && <Problem error={exporting.error} />}
      <div class="row">
        <Button onClick={() => void exporting.run()} busy={exporting.isBusy}>
          {texts.exportAction}
        </Button>
        <span role="status" class="quiet">
          {count !== null &&
            exporting.error === null &&
            (exporting.isBusy ? texts.exporting(count) : texts.exported(count))}
        </span>
      </div>
    </section>
  );
}

function fileName(subscriberId: string): string {
  return subscriberId.replace(/[^\p{L}\p{N}._-]+/gu, "-");
}

function Erase({ subscriber }: PartProps) {
  const address = useAddress();
  const { route } = useLocation();
  const [isAsking, setAsking] = useState(false);
  const name = nameOf(subscriber);
  async function erase() {
    await api.DELETE("/v2/subscribers/{subscriberId}", {
      params: { path: { subscriberId: subscriber.subscriberId } },
    });
    notify(texts.erasedDone(name));
    route(address("/subscribers"));
  }
  return (
    <section class="panel stack" aria-labelledby="data-erase">
      <h2 id="data-erase">{texts.erase}</h2>
      <p class="quiet">{texts.eraseHint}</p>
      <div class="row">
        <Button kind="danger" onClick={() => setAsking(true)}>
          {texts.eraseAction}
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title={texts.eraseTitle(name)}
          action={texts.eraseAction}
          isDangerous
          typed={subscriber.subscriberId}
          onConfirm={erase}
          onClose={() => setAsking(false)}
        >
          <div>
            <p>{texts.erased}</p>
            <ul class="subscriber-erased">
              {texts.eraseList.map((one) => (
                <li key={one}>{one}</li>
              ))}
            </ul>
          </div>
          <p class="small quiet">{texts.stays}</p>
        </Confirm>
      )}
    </section>
  );
}
