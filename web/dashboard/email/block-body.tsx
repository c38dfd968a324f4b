/** A body of blocks: the editor of blocks, or its JSON. */
import { useState } from "preact/hooks";
import type { Schema } from "../../ui/code-editor/variables.ts";
import { lazyComponent } from "../../ui/lazy.tsx";
import type { BlockEditorProps } from "../blocks/block-editor.tsx";
import { ChoiceRow } from "../preview/choice-row.tsx";
import { JsonField } from "../schema-form/json-field.tsx";
import { texts } from "../texts/blocks.ts";
import { isBlockDocument } from "./bodies.ts";

type BlockBodyProps = {
  label: string;
  value: string;
  onValue: (value: string) => void;
  variables: Schema | undefined;
  /** The path of the body among the problems. */
  path: string;
  problems: Readonly<Record<string, string>>;
  rows: number;
  disabled: boolean;
};

const BlockEditor = lazyComponent<BlockEditorProps>(() => import("../blocks/block-editor.tsx"), Source);

export function BlockBody({ path, problems, rows, ...props }: BlockBodyProps) {
  const [view, setView] = useState<keyof typeof texts.viewNames>("blocks");
  const problem = problems[path];
  const inside = Object.entries(problems)
    .filter(([one]) => one.startsWith(`${path}.content`))
    .map(([one, message]) => ({ path: one.slice(path.length + 1), message }));
  return (
    <>
      <ChoiceRow label={texts.views} words={texts.viewNames} value={view} onValue={setView} />
      {view === "blocks" ? (
        <BlockEditor {...props} problems={inside} />
      ) : (
        <Source {...props} problems={inside} rows={rows} />
      )}
      {problem && <p class="field-problem">{problem}</p>}
    </>
  );
}

/** The document as JSON; what is no document of blocks is not taken. */
function Source({ label, value, onValue, problems, disabled, rows }: BlockEditorProps & { rows?: number }) {
  return (
    <JsonField
      label={label}
      hint={texts.sourceHint}
      problem={problems.map(({ path, message }) => `${path}: ${message}`).join(" ") || undefined}
      value={JSON.parse(value)}
      onValue={(document) => onValue(JSON.stringify(document))}
      refuse={(document) => (isBlockDocument(JSON.stringify(document) ?? "") ? undefined : texts.notBlocks)}
      rows={rows ?? 16}
      disabled={disabled}
    />
  );
}
