import type { EditorState } from "@tiptap/pm/state";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { Schema } from "../../ui/code-editor/variables.ts";
import { useEcho } from "../../ui/echo.ts";
import { texts } from "../texts/blocks.ts";
import { findByPath } from "./chosen.ts";
import { type BlockEditorOptions, type BlockProblem, createBlockEditor, type BlockEditor as Editor } from "./editor.ts";
import { Panel } from "./panel.tsx";
import { findEach, listVariables } from "./query.ts";
import { Suggestions } from "./suggestions.tsx";
import { Toolbar } from "./toolbar.tsx";
import { useSuggestions } from "./use-suggestions.ts";
import { describeBlock } from "./views.ts";

export type BlockEditorProps = {
  label: string;
  value: string;
  onValue: (value: string) => void;
  /** The JSON Schema of the variables in scope. */
  variables: Schema | undefined;
  /** The server's sentences, by paths in the document such as `content[3].attrs.url`. */
  problems: readonly BlockProblem[];
  disabled: boolean;
};

const NO_VARIABLES: Schema = {};

/** A document of blocks: text with formats, boxes and what stands in them. */
export default function BlockEditor(props: BlockEditorProps) {
  const { label, value, problems, disabled, variables = NO_VARIABLES } = props;
  const host = useRef<HTMLDivElement>(null);
  const element = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(null);
  const [state, setState] = useState<EditorState | null>(null);
  const [announcement, setAnnouncement] = useState("");
  const latest = useRef(props);
  latest.current = props;
  const list = useId();
  const suggestions = useSuggestions(editor, variables, (block, isDone) => {
    const name = texts.newNames[block];
    setAnnouncement(isDone ? texts.added(name) : texts.cannot(name));
  });
  const current = useRef(suggestions);
  current.current = suggestions;
  const sent = useEcho(value, (text) => editor.current?.setText(text));
  const { open } = suggestions;

  const options = (): BlockEditorOptions => ({
    label,
    description: texts.hint,
    isReadOnly: disabled,
    problems,
    list: open ? { id: list, chosen: `${list}-${open.chosen}` } : null,
    onText: (text) => {
      sent(text);
      latest.current.onValue(text);
    },
    onState: (now) => {
      setState(now);
      current.current.follow(now);
    },
    onKey: (event) => current.current.takeKey(event),
    announce: setAnnouncement,
  });

  useEffect(() => {
    if (!host.current) {
      return;
    }
    const made = createBlockEditor(host.current, latest.current.value, options());
    editor.current = made;
    setState(made.view.state);
    return () => {
      made.destroy();
      editor.current = null;
    };
  }, []);
  useEffect(() => editor.current?.update(options()), [label, disabled, problems, open]);
  useEffect(() => {
    const reveal = (event: Event) => editor.current?.reveal((event as CustomEvent<string>).detail);
    element.current?.addEventListener("reveal", reveal);
    return () => element.current?.removeEventListener("reveal", reveal);
  }, []);

  const each = state ? findEach(state) : "";
  const names = useMemo(() => listVariables(variables, each), [variables, each]);
  const place = open && editor.current && host.current ? placeOf(editor.current, host.current, open.query.from) : null;

  return (
    <div ref={element} class="field blocks">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard reaches the editor by Tab */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only widens what the pointer can hit */}
      <span class="code-label" onClick={() => editor.current?.view.focus()}>
        {label}
      </span>
      {editor.current && state && !disabled && (
        <Toolbar
          editor={editor.current}
          state={state}
          onAdd={suggestions.add}
          onMark={(name) => setTimeout(() => focusMark(element.current, name))}
        />
      )}
      <div class="blocks-host">
        <div ref={host} />
        {open && place && (
          <Suggestions id={list} offers={open.offers} chosen={open.chosen} {...place} onChoose={suggestions.choose} />
        )}
      </div>
      <p class="field-hint">{texts.hint}</p>
      {editor.current && state && (
        <>
          <Problems editor={editor.current} state={state} problems={problems} />
          <Panel editor={editor.current} state={state} problems={problems} variables={names} disabled={disabled} />
        </>
      )}
      <p class="visually-hidden" role="status">
        {open ? texts.suggested(open.offers.length) : announcement}
      </p>
    </div>
  );
}

/** What the server says of single blocks; each sentence leads to its block. */
function Problems({
  editor,
  state,
  problems,
}: {
  editor: Editor;
  state: EditorState;
  problems: readonly BlockProblem[];
}) {
  if (problems.length === 0) {
    return null;
  }
  return (
    <ul class="blocks-problems" aria-label={texts.problems}>
      {problems.map(({ path, message }) => {
        const placed = findByPath(state.doc, path);
        return (
          <li key={`${path} ${message}`}>
            <button type="button" class="button button-quiet" onClick={() => editor.reveal(path)}>
              {placed && <bdi>{texts.of(describeBlock(placed.node))}</bdi>}
              {message}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

const LIST_WIDTH = 260;

function placeOf(editor: Editor, host: HTMLElement, position: number): { left: number; top: number } {
  const at = editor.view.coordsAtPos(Math.min(position, editor.view.state.doc.content.size));
  const around = host.getBoundingClientRect();
  const left = Math.max(0, Math.min(at.left - around.left, around.width - LIST_WIDTH));
  return { left, top: at.bottom - around.top + 4 };
}

function focusMark(element: HTMLElement | null, name: string): void {
  element?.querySelector<HTMLElement>(`[data-mark-fields="${name}"] input`)?.focus();
}
