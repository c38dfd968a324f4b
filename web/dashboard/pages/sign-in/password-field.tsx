import { useEffect, useRef, useState } from "preact/hooks";
import { Field } from "../../../ui/field.tsx";
import { texts } from "../../texts/sign-in.ts";

type PasswordFieldProps = {
  label: string;
  value: string;
  onValue: (value: string) => void;
  isNew?: boolean;
  /** It is what is missing, so typing begins here. */
  isFirst?: boolean;
  problem?: string | undefined;
};

/** A password, which can be shown while it is typed. */
export function PasswordField({ label, value, onValue, isNew = false, isFirst = false, problem }: PasswordFieldProps) {
  const [isShown, setShown] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isFirst) {
      input.current?.focus();
    }
  }, [isFirst]);
  return (
    <Field label={label} {...(isNew && { hint: texts.passwordHint })} problem={problem}>
      {(attributes) => (
        <div class="sign-in-password">
          <input
            {...attributes}
            ref={input}
            class="input"
            type={isShown ? "text" : "password"}
            autoComplete={isNew ? "new-password" : "current-password"}
            autoCapitalize="off"
            spellcheck={false}
            required
            value={value}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
          <button
            type="button"
            class="sign-in-show"
            aria-label={isShown ? texts.hidePassword : texts.showPassword}
            aria-pressed={isShown}
            onClick={() => setShown(!isShown)}
          >
            <Eye isOpen={!isShown} />
          </button>
        </div>
      )}
    </Field>
  );
}

function Eye({ isOpen }: { isOpen: boolean }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M2 10s3-5.5 8-5.5S18 10 18 10s-3 5.5-8 5.5S2 10 2 10Z" />
      <circle cx="10" cy="10" r="2.5" />
      {!isOpen && <path d="m4 16 12-12" />}
    </svg>
  );
}
