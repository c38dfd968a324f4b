import type { EditorState } from "@tiptap/pm/state";
import { useId } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { texts } from "../texts/blocks.ts";
import type { JsonObject } from "../values.ts";
import { AttributeField } from "./attribute-field.tsx";
import { ATTRIBUTES, type Attribute, FIRST_ATTRIBUTES, MARK_ATTRIBUTES } from "./catalog.ts";
import { findByPath, findInline, findPath, type Placed } from "./chosen.ts";
import { changeAttributes, choose } from "./commands.ts";
import { isUnknown } from "./convert.ts";
import type { BlockEditor, BlockProblem } from "./editor.ts";
import { changeMark, findMark, markAttributes, removeMark } from "./marks.ts";
import { attrsOf } from "./schema.ts";
import { describeBlock, jsonOf } from "./views.ts";

type PanelProps = {
  editor: BlockEditor;
  state: EditorState;
  problems: readonly BlockProblem[];
  variables: readonly string[];
  disabled: boolean;
};

/** The chosen block: what is around it, and its attributes. */
export function Panel(props: PanelProps) {
  const { editor, state } = props;
  const names = useId();
  const path = findPath(state);
  const target = findInline(state) ?? path.at(-1);
  return (
    <section class="blocks-panel stack" aria-label={texts.path}>
      <nav class="blocks-path" aria-label={texts.around}>
        {path.map(({ node, pos }, index) => (
          <button
            key={pos}
            type="button"
            class="button button-quiet"
            {...(index === path.length - 1 && { "aria-current": "true" as const })}
            onClick={() => editor.run((now) => choose(now.tr, pos, true))}
          >
            <bdi>{describeBlock(node)}</bdi>
          </button>
        ))}
      </nav>
      <datalist id={names}>
        {props.variables.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {Object.keys(MARK_ATTRIBUTES).map((name) => (
        <MarkFields key={name} {...props} name={name} names={names} />
      ))}
      {target && <BlockFields {...props} target={target} names={names} />}
    </section>
  );
}

type BlockFieldsProps = PanelProps & { target: Placed; names: string };

function BlockFields({ editor, state, problems, target, names, disabled }: BlockFieldsProps) {
  const { node, pos } = target;
  if (isUnknown(node)) {
    return (
      <>
        <p>{texts.unknown}</p>
        <pre class="blocks-json">{jsonOf(node)}</pre>
      </>
    );
  }
  const attributes = ATTRIBUTES[node.type.name] ?? [];
  const own = problems.filter(({ path }) => findByPath(state.doc, path)?.pos === pos);
  const field = (attribute: Attribute) => (
    <AttributeField
      key={`${pos} ${attribute.name}`}
      attribute={attribute}
      value={attrsOf(node)[attribute.name]}
      problem={own.find(({ path }) => path.endsWith(`.attrs.${attribute.name}`))?.message}
      names={names}
      disabled={disabled}
      onValue={(value) => editor.change((now) => changeAttributes(now, target, { [attribute.name]: value }))}
    />
  );
  const more = attributes.filter(({ name }) => !FIRST_ATTRIBUTES.includes(name));
  return (
    <>
      <div class="blocks-fields">{attributes.filter(({ name }) => FIRST_ATTRIBUTES.includes(name)).map(field)}</div>
      {more.length > 0 && (
        <details>
          <summary>{texts.more}</summary>
          <div class="blocks-fields">{more.map(field)}</div>
        </details>
      )}
    </>
  );
}

/** The attributes of a mark at the cursor. */
function MarkFields({ editor, state, name, names, disabled }: PanelProps & { name: string; names: string }) {
  const mark = findMark(state, name);
  if (!mark) {
    return null;
  }
  const attrs = markAttributes(mark);
  const set = (changes: JsonObject) => editor.change((now) => changeMark(now, name, changes));
  const title = texts.markNames[name] ?? name;
  return (
    <fieldset class="schema-group" data-mark-fields={name}>
      <legend>{title}</legend>
      <div class="blocks-fields">
        {(MARK_ATTRIBUTES[name] ?? []).map((attribute) => (
          <AttributeField
            key={attribute.name}
            attribute={attribute}
            value={attrs[attribute.name]}
            names={names}
            disabled={disabled}
            onValue={(value) => set({ [attribute.name]: value })}
          />
        ))}
      </div>
      {!disabled && (
        <div>
          <Button kind="quiet" onClick={() => editor.run((now) => removeMark(now, name))}>
            {texts.removeMark(title)}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
