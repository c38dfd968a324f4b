import { useMemo, useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { Button } from "../../../ui/button.tsx";
import { parseCsv, writeCsv } from "../../../ui/csv.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { download } from "../../../ui/download.ts";
import { Field, SelectField, TextArea } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { Progress } from "../../../ui/progress.tsx";
import { Table } from "../../../ui/table.tsx";
import { topicTexts as texts } from "../../texts/topics.ts";
import type { Topic } from "./model.ts";
import { type Adding, addAnswer, BATCH, guessIdColumn, type Refusal, readIds } from "./model.ts";
import { subscribe } from "./subscribe.ts";

const SHOWN = 50;
const NOTHING: Adding = { done: 0, added: 0, refused: [] };

type AddFileProps = { topic: Topic; onDone: () => void; onClose: () => void };

/** Add the people of a file, a hundred at a time; who is not known is listed with the line. */
export function AddFile({ topic, onDone, onClose }: AddFileProps) {
  const [text, setText] = useState("");
  const [column, setColumn] = useState("");
  const [progress, setProgress] = useState<Adding | null>(null);
  const csv = useMemo(() => parseCsv(text), [text]);
  const used = csv.columns.includes(column) ? column : guessIdColumn(csv.columns);
  const ids = useMemo(() => readIds(csv, used), [csv, used]);
  const adding = useAction(async () => {
    let now = progress !== null && progress.done < ids.length ? progress : NOTHING;
    setProgress(now);
    while (now.done < ids.length) {
      const batch = ids.slice(now.done, now.done + BATCH);
      now = addAnswer(
        now,
        batch,
        await subscribe(
          topic.key,
          batch.map((one) => one.id),
        ),
      );
      setProgress(now);
    }
    onDone();
  });
  const isDone = progress !== null && progress.done === ids.length;
  function take(given: string) {
    setText(given);
    setProgress(null);
    adding.clear();
  }
  return (
    <Dialog title={texts.addFileTitle} onClose={onClose}>
      <Form
        action={adding}
        submit={isDone ? undefined : texts.addAction(ids.length)}
        isReady={ids.length !== 0}
        onCancel={onClose}
      >
        <Field label={texts.chooseFile}>
          {(attributes) => (
            <input
              {...attributes}
              class="input"
              type="file"
              accept=".csv,.tsv,.txt,text/csv,text/plain"
              onChange={async (event) => {
                const file = event.currentTarget.files?.[0];
                if (file) {
                  take(await file.text());
                }
              }}
            />
          )}
        </Field>
        <TextArea label={texts.file} hint={texts.fileHint} rows={5} value={text} onValue={take} />
        {csv.columns.length > 1 && (
          <SelectField
            label={texts.idColumn}
            value={used}
            options={csv.columns.map((value) => ({ value, label: value }))}
            onValue={setColumn}
          />
        )}
        {text.trim() !== "" && (
          <p class="small quiet">{ids.length === 0 ? texts.noIds : texts.ids(ids.length, csv.rows.length)}</p>
        )}
        {progress !== null && (
          <>
            <Progress label={texts.progress} done={progress.done} all={ids.length} />
            <p role="status">{texts.done(progress.added, progress.refused.length)}</p>
          </>
        )}
        {progress !== null && progress.refused.length > 0 && <Refused refused={progress.refused} />}
      </Form>
    </Dialog>
  );
}

function Refused({ refused }: { refused: readonly Refusal[] }) {
  const columns = [
    { name: "line", title: texts.line, show: (one: Refusal) => one.line },
    { name: "problem", title: texts.problem, show: (one: Refusal) => <bdi>{one.sentence}</bdi> },
  ];
  function save() {
    const rows = refused.map((one) => ({ subscriberId: one.id, problem: one.sentence }));
    download("not-added.csv", writeCsv(["subscriberId", "problem"], rows), "text/csv");
  }
  return (
    <>
      <Table label={texts.problem} columns={columns} rows={refused.slice(0, SHOWN)} rowKey={(one) => one.id} />
      {refused.length > SHOWN && <p class="small quiet">{texts.more(refused.length - SHOWN)}</p>}
      <div class="row">
        <Button onClick={save}>{texts.download}</Button>
      </div>
    </>
  );
}
