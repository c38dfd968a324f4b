import { useRef, useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { parseCsv, writeCsv } from "../../../ui/csv.ts";
import { download } from "../../../ui/download.ts";
import { TextArea } from "../../../ui/field.tsx";
import { PlainForm } from "../../../ui/form.tsx";
import { texts } from "../../texts/subscriber-import.ts";
import type { SourceFile } from "./model.ts";
import { fileProblem } from "./model.ts";

const EXAMPLE = [
  {
    subscriberId: "ada",
    firstName: "Ada",
    lastName: "Lovelace",
    email: "ada@example.com",
    phone: "+44 20 7946 0000",
    locale: "en-GB",
    timezone: "Europe/London",
    "data.plan": "gold",
  },
];

/** Choose a file, drop it, or paste its lines. */
export function Source({ onFile }: { onFile: (file: SourceFile) => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const [pasted, setPasted] = useState("");
  const [isOver, setOver] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);

  function read(name: string, text: string) {
    const csv = text.includes("\0") ? null : parseCsv(text);
    const found = csv === null ? texts.notText : fileProblem(csv);
    setProblem(found);
    if (csv !== null && found === null) {
      onFile({ name, csv });
    }
  }

  async function open(file: File | undefined) {
    if (file) {
      read(file.name, await file.text());
    }
  }

  return (
    <div class="stack people-narrow">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard */}
      <div
        class={`import-drop ${isOver ? "import-drop-over" : ""}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void open(event.dataTransfer?.files[0]);
        }}
      >
        <input
          ref={chooser}
          type="file"
          class="visually-hidden"
          tabIndex={-1}
          aria-label={texts.choose}
          accept=".csv,.tsv,.txt,text/csv,text/plain"
          onChange={(event) => {
            void open(event.currentTarget.files?.[0]);
            event.currentTarget.value = "";
          }}
        />
        <Button kind="primary" onClick={() => chooser.current?.click()}>
          {texts.choose}
        </Button>
        <span class="quiet">{texts.drop}</span>
      </div>
      {problem !== null && (
        <div class="problem" role="alert">
          <p>{problem}</p>
        </div>
      )}
      <PlainForm onSubmit={() => read(texts.pasted, pasted)}>
        <TextArea label={texts.paste} hint={texts.pasteHint} rows={6} value={pasted} onValue={setPasted} />
        <div class="row">
          <Button type="submit" disabled={pasted.trim() === ""}>
            {texts.read}
          </Button>
          <Button
            kind="quiet"
            onClick={() => download("subscribers.csv", writeCsv(Object.keys(EXAMPLE[0] ?? {}), EXAMPLE), "text/csv")}
          >
            {texts.example}
          </Button>
        </div>
      </PlainForm>
    </div>
  );
}
