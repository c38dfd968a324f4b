import type { ComponentChildren } from "preact";
import { Status } from "../../../ui/status.tsx";
import { texts } from "../../texts/editor.ts";
import type { Draft, DraftStep } from "./model.ts";
import { useEditorAddress } from "./parts.tsx";
import { partPath } from "./places.ts";
import type { FieldProblem } from "./problems.ts";

/** All problems and remarks, each with a link to its field. */
export function ProblemList({ problems, draft }: { problems: readonly FieldProblem[]; draft: Draft }) {
  const errors = problems.filter((one) => one.isError);
  const remarks = problems.filter((one) => !one.isError);
  return (
    <>
      <Sentences
        kind="problems"
        tone="warn"
        title={texts.problems}
        count={texts.problemCount}
        draft={draft}
        all={errors}
      />
      <Sentences
        kind="remarks"
        tone="plain"
        title={texts.remarks}
        count={texts.remarkCount}
        draft={draft}
        all={remarks}
      >
        <p class="small quiet">{texts.remarksHint}</p>
      </Sentences>
    </>
  );
}

type SentencesProps = {
  kind: "problems" | "remarks";
  tone: "warn" | "plain";
  title: string;
  count: (count: number) => string;
  all: readonly FieldProblem[];
  draft: Draft;
  children?: ComponentChildren;
};

function Sentences({ kind, tone, title, count, all, draft, children }: SentencesProps) {
  const address = useEditorAddress();
  if (all.length === 0) {
    return null;
  }
  return (
    <section class={`editor-problems editor-${kind}`} aria-labelledby={`editor-${kind}`}>
      <h2 id={`editor-${kind}`} class="editor-heading">
        {title} <Status tone={tone}>{count(all.length)}</Status>
      </h2>
      {children}
      <ul>
        {all.map((one) => {
          const step = draft.steps.find((other) => other.key === one.step);
          return (
            <li key={`${one.step}/${one.path}/${one.message}`}>
              <a
                href={address({ step: one.step, part: "form" })}
                onClick={() => setTimeout(() => focusField(one.path))}
              >
                <bdi>{texts.inStep(step?.name ?? texts.settings)}</bdi> {sentenceOf(one, step)}
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Some sentences of the server begin with the verb; a variant or a path is called by its name. */
function sentenceOf({ path, message, isMissing }: FieldProblem, step: DraftStep | undefined): string {
  const parts = [
    ...(step?.variants ?? []).map((one) => ({ ...one, place: `${partPath("variants", one.key)}.` })),
    ...(step?.paths ?? []).map((one) => ({ ...one, place: `${partPath("paths", one.key)}.` })),
  ];
  const part = parts.find(({ place }) => path.startsWith(place));
  const place = part ? path.slice(part.place.length) : path;
  const sentence = isMissing || message.startsWith(place) ? message : `${place} ${message}`;
  return part ? `${part.name}: ${sentence}` : sentence;
}

const PATIENCE = 40;

/** Move the focus to the field of a path, once its form shows and its editor is loaded. */
export function focusField(path: string, attempts = 0): void {
  const field = findField(path);
  const control = field && findControl(field, path);
  if (!control) {
    if (attempts < PATIENCE) {
      setTimeout(() => focusField(path, attempts + 1), 50);
    }
    return;
  }
  for (let outer: Element | null = field; outer; outer = outer.parentElement) {
    if (outer instanceof HTMLDetailsElement) {
      outer.open = true;
    }
  }
  control.focus();
  field.scrollIntoView({ block: "center" });
  const inside = path.slice(path.indexOf("content["));
  field.querySelector(".blocks")?.dispatchEvent(new CustomEvent("reveal", { detail: inside }));
}

/** The field of a path, or of the part of it that has one. */
function findField(path: string): HTMLElement | null {
  const parts = path.split(".");
  for (let length = parts.length; length > 0; length -= 1) {
    const name = CSS.escape(parts.slice(0, length).join("."));
    const found = document.querySelector<HTMLElement>(`.editor-form [data-path="${name}"]`);
    if (found) {
      return found;
    }
  }
  return null;
}

/** What can be typed into; code is edited inside a shadow root, which is empty until its editor is loaded. */
function findControl(field: HTMLElement, path: string): HTMLElement | null {
  const editor = field.querySelector(".code-host, .blocks");
  if (editor || path.includes("content[")) {
    return editor && deepEditable(editor);
  }
  return field.querySelector<HTMLElement>("input, textarea, select, button");
}

function deepEditable(element: Element): HTMLElement | null {
  for (const one of [element, ...element.querySelectorAll("*")]) {
    const found = one.shadowRoot?.querySelector<HTMLElement>('[role="textbox"]');
    if (found) {
      return found;
    }
  }
  return element.querySelector<HTMLElement>('[role="textbox"]');
}
