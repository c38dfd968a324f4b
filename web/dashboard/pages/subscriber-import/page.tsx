import { useState } from "preact/hooks";
import { Page } from "../../../ui/page.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/subscriber-import.ts";
import { Mapped } from "./mapped.tsx";
import type { Line, SourceFile } from "./model.ts";
import { Sending } from "./sending.tsx";
import { Source } from "./source.tsx";

/** Three steps: a file, what its columns are, and sending it. */
export default function SubscriberImportPage() {
  const address = useAddress();
  const [file, setFile] = useState<SourceFile | null>(null);
  const [lines, setLines] = useState<readonly Line[] | null>(null);
  function startAgain() {
    setLines(null);
    setFile(null);
  }
  return (
    <Page title={texts.title} lead={texts.lead} back={{ href: address("/subscribers"), label: texts.back }}>
      {file === null && <Source onFile={setFile} />}
      {file !== null && lines === null && <Mapped file={file} onStart={setLines} onAnother={startAgain} />}
      {file !== null && lines !== null && <Sending file={file} lines={lines} onAnother={startAgain} />}
    </Page>
  );
}
