import { isMarkActive } from "@tiptap/core";
import type { EditorState } from "@tiptap/pm/state";
import { useRef } from "preact/hooks";
import { Menu, type MenuItem } from "../../ui/menu.tsx";
import { texts } from "../texts/blocks.ts";
import { NEW_BLOCKS, NEW_BOXES, type NewBlock, TEXT_BLOCKS } from "./catalog.ts";
import { findBlock } from "./chosen.ts";
import { changeAttributes, turnInto, unwrapBlock, wrapBlock } from "./commands.ts";
import type { BlockEditor } from "./editor.ts";
import { toggleMarkOf } from "./keys.ts";
import { addMark, findMark } from "./marks.ts";
import { attrsOf, rawOf } from "./schema.ts";

type ToolbarProps = {
  editor: BlockEditor;
  state: EditorState;
  onAdd: (block: NewBlock) => void;
  /** A mark was set whose attributes are to be filled in. */
  onMark: (name: string) => void;
};

const MARKS = ["bold", "italic", "underline", "strike", "code"] as const;
const ALIGNMENTS = ["left", "center", "right"] as const;
const NEW_LINK = {
  type: "link",
  attrs: { href: "", target: "_blank", rel: "noopener noreferrer nofollow" },
};
const NEW_COLOR = { type: "textStyle", attrs: { color: "#b91c1c" } };

/** Adding blocks, formats of texts, and what is done with the chosen block; arrows move between the buttons. */
export function Toolbar({ editor, state, onAdd, onMark }: ToolbarProps) {
  const element = useRef<HTMLDivElement>(null);
  const isLinked = findMark(state, "link") !== null;
  const isColored = findMark(state, "textStyle") !== null;
  const isEmpty = state.selection.empty;

  function handleKey(event: KeyboardEvent) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const all = [...(element.current?.querySelectorAll<HTMLElement>("button:not(:disabled)") ?? [])];
    const now = all.indexOf(document.activeElement as HTMLElement);
    if (by !== undefined && now >= 0) {
      event.preventDefault();
      all[(now + by + all.length) % all.length]?.focus();
    }
  }
  function toggle(name: string) {
    editor.run((now) => {
      let made = null;
      toggleMarkOf(name)(now, (tr) => {
        made = tr;
      });
      return made;
    });
  }
  function mark(name: "link" | "textStyle") {
    if (!findMark(state, name)) {
      editor.change((now) => addMark(now, name === "link" ? NEW_LINK : NEW_COLOR));
    }
    onMark(name);
  }

  return (
    <div ref={element} class="blocks-toolbar" role="toolbar" aria-label={texts.toolbar} onKeyDown={handleKey}>
      <Menu label={texts.add} items={listNew(onAdd)} align="start">
        + {texts.block}
      </Menu>
      <TextKind editor={editor} state={state} />
      <span class="blocks-tools">
        {MARKS.map((name) => (
          <Tool key={name} name={name} isPressed={isMarkActive(state, name)} onClick={() => toggle(name)} />
        ))}
        <Tool name="link" isPressed={isLinked} disabled={isEmpty && !isLinked} onClick={() => mark("link")} />
        <Tool name="color" isPressed={isColored} disabled={isEmpty && !isColored} onClick={() => mark("textStyle")} />
        <Tool name="variable" onClick={() => editor.run((now) => now.tr.insertText("{{"))} />
      </span>
      <Alignment editor={editor} state={state} />
      <span class="blocks-tools">
        <Tool name="moveUp" onClick={() => editor.move(-1)} />
        <Tool name="moveDown" onClick={() => editor.move(1)} />
        <Tool name="duplicate" onClick={editor.duplicate} />
        <Tool name="remove" onClick={editor.remove} />
      </span>
      <Menu label={texts.boxes} items={listBoxes(editor)}>
        ⋯
      </Menu>
    </div>
  );
}

function listNew(onAdd: (block: NewBlock) => void): MenuItem[] {
  const all = Object.keys(NEW_BLOCKS) as NewBlock[];
  return all.map((block) => ({ label: texts.newNames[block], onSelect: () => onAdd(block) }));
}

function listBoxes(editor: BlockEditor): MenuItem[] {
  const boxes = NEW_BOXES.map((box) => ({
    label: texts.wrapIn(texts.newNames[box]),
    onSelect: () => void editor.run((now) => wrapBlock(now, NEW_BLOCKS[box])),
  }));
  return [...boxes, { label: texts.unwrap, onSelect: () => void editor.run(unwrapBlock) }];
}

/** Which kind of text the chosen block is. */
function TextKind({ editor, state }: Pick<ToolbarProps, "editor" | "state">) {
  const chosen = findBlock(state)?.node;
  const { type, attrs } = chosen ? rawOf(chosen) : { type: "", attrs: {} };
  const now = type === "heading" ? `heading${attrs?.level ?? 1}` : type;
  const isText = TEXT_BLOCKS.some((one) => one === now);
  return (
    <select
      class="input blocks-kind"
      aria-label={texts.turnInto}
      value={isText ? now : ""}
      disabled={!isText}
      onChange={(event) => {
        const block = event.currentTarget.value as (typeof TEXT_BLOCKS)[number];
        editor.run((before) => turnInto(before, NEW_BLOCKS[block]));
      }}
    >
      {!isText && <option value="" />}
      {TEXT_BLOCKS.map((block) => (
        <option key={block} value={block}>
          {texts.newNames[block]}
        </option>
      ))}
    </select>
  );
}

const ALIGNED: Record<string, string> = {
  paragraph: "textAlign",
  heading: "textAlign",
  footer: "textAlign",
  button: "alignment",
  image: "alignment",
  logo: "alignment",
  section: "align",
};

function Alignment({ editor, state }: Pick<ToolbarProps, "editor" | "state">) {
  const chosen = findBlock(state);
  const name = chosen ? ALIGNED[chosen.node.type.name] : undefined;
  const value = chosen && name ? attrsOf(chosen.node)[name] : undefined;
  return (
    <span class="blocks-tools">
      {ALIGNMENTS.map((one) => (
        <Tool
          key={one}
          name={one}
          isPressed={value === one}
          disabled={name === undefined}
          onClick={() => {
            if (chosen && name) {
              editor.run((now) => changeAttributes(now, chosen, { [name]: value === one ? undefined : one }));
            }
          }}
        />
      ))}
    </span>
  );
}

type ToolProps = {
  name: keyof typeof texts.marks;
  onClick: () => void;
  isPressed?: boolean;
  disabled?: boolean;
};

function Tool({ name, onClick, isPressed, disabled = false }: ToolProps) {
  return (
    <button
      type="button"
      class={`button button-quiet blocks-tool blocks-tool-${name}`}
      aria-label={texts.tools[name]}
      title={texts.tools[name]}
      {...(isPressed !== undefined && { "aria-pressed": isPressed })}
      disabled={disabled}
      // The selection in the document stays.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onClick}
    >
      <span aria-hidden="true">{texts.marks[name]}</span>
    </button>
  );
}
