import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Action } from "../api/action.ts";
import { Button } from "./button.tsx";
import { Problem } from "./problem.tsx";
import { texts } from "./texts.ts";

type FormProps = {
  /** What happens when the form is submitted. */
  action: Action<[]>;
  /** The verb of the button; left out for people who only look. */
  submit?: ComponentChildren;
  kind?: "primary" | "plain" | "danger";
  /** Whether enough is filled in to try. */
  isReady?: boolean;
  onCancel?: (() => void) | undefined;
  /** What stands beside the buttons. */
  beside?: ComponentChildren;
  class?: string;
  noValidate?: boolean;
  children?: ComponentChildren;
};

/** Fields, what went wrong, and the buttons; the first field with a problem gets the focus. */
export function Form(props: FormProps) {
  const { action, submit, kind = "primary", isReady = true, onCancel, beside, noValidate = false } = props;
  const element = useRef<HTMLFormElement>(null);
  const [rounds, setRounds] = useState(0);
  const [unsaid, setUnsaid] = useState<unknown>(null);
  useLayoutEffect(() => {
    if (rounds > 0 && element.current !== null) {
      setUnsaid(areAllSaid(element.current, action.fields) ? null : action.error);
      focusFirstProblem(element.current);
    }
  }, [rounds]);

  async function run(event: Event) {
    event.preventDefault();
    await action.run();
    setRounds((number) => number + 1);
  }

  return (
    <form ref={element} class={props.class ?? "stack"} noValidate={noValidate} onSubmit={run}>
      {props.children}
      {unsaid !== null && unsaid === action.error && <Problem error={unsaid} />}
      {submit !== undefined && (
        <div class="row">
          <Button type="submit" kind={kind} busy={action.isBusy} disabled={!isReady}>
            {submit}
          </Button>
          {onCancel && (
            <Button kind="quiet" onClick={onCancel}>
              {texts.cancel}
            </Button>
          )}
          {beside}
        </div>
      )}
    </form>
  );
}

/** Whether each sentence of the server stands at its field, so that there is nothing to add below. */
function areAllSaid(form: HTMLFormElement, fields: Record<string, string>): boolean {
  const sentences = Object.values(fields);
  const said = Array.from(form.querySelectorAll(".field-problem"), (element) => element.textContent ?? "");
  return sentences.length > 0 && sentences.every((sentence) => said.some((text) => text.includes(sentence)));
}

function focusFirstProblem(form: HTMLFormElement): void {
  const field = form.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]');
  // The code editor is in a shadow tree.
  (field?.shadowRoot?.querySelector<HTMLElement>("[contenteditable]") ?? field)?.focus();
}

type PlainFormProps = { onSubmit: () => void; class?: string; children: ComponentChildren };

/** A form that changes what is shown here, without a request of its own. */
export function PlainForm({ onSubmit, class: name = "stack", children }: PlainFormProps) {
  return (
    <form
      class={name}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
