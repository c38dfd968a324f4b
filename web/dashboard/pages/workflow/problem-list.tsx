import { Status } from "../../../ui/status.tsx";
import { texts } from "../../texts/editor.ts";
import type { Draft } from "./model.ts";
import { useEditorAddress } from "./parts.tsx";
import type { FieldProblem } from "./problems.ts";

/** All problems, each with a link to its field. */
export function ProblemList({ problems, draft }: { problems: readonly FieldProblem[]; draft: Draft }) {
  const address = useEditorAddress();
  if (problems.length === 0) {
    return null;
  }
  return (
    <section class="editor-problems" aria-labelledby="editor-problems">
      <h2 id="editor-problems" class="editor-heading">
        {texts.problems} <Status tone="warn">{texts.problemCount(problems.length)}</Status>
      </h2>
      <ul>
        {problems.map((one) => {
          const step = draft.steps.find((other) => other.key === one.step);
          return (
            <li key={`${one.step}/${one.path}/${one.message}`}>
              <a
                href={address({ step: one.step, part: "form" })}
                onClick={() => setTimeout(() => focusField(one.path))}
              >
                <bdi>{texts.inStep(step?.name ?? texts.settings)}</bdi> {sentenceOf(one)}
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Some sentences of the server begin with the verb. */
function sentenceOf({ path, message, isMissing }: FieldProblem): string {
  return isMissing || message.startsWith(path) ? message : `${path} ${message}`;
}

const PATIENCE = 40;

/** Move the focus to the field of a path, once its form shows and its editor is loaded. */
function focusField(path: string, attempts = 0): void {
  const field = findField(path);
  const control = field && findControl(field);
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
function findControl(field: HTMLElement): HTMLElement | null {
  const code = field.querySelector(".code-host");
  if (code) {
    return deepEditable(code);
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
