import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { useAddress, useSession } from "../session.ts";
import { texts } from "../texts/shell.ts";
import { signOut } from "./sign-out.ts";
import { THEMES, useTheme } from "./theme.ts";

/** Who is signed in, and what they can do about themselves. */
export function UserMenu({ onKeys }: { onKeys: () => void }) {
  const { me } = useSession();
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const container = useRef<HTMLDivElement>(null);
  useClosing(container, isOpen, () => setOpen(false));
  return (
    <div class="user-menu" ref={container}>
      <button
        type="button"
        class="user-menu-button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true">{initialsOf(me.member.name)}</span>
        <span class="visually-hidden">{texts.user(me.member.name)}</span>
      </button>
      <div id={id} class="user-menu-panel" hidden={!isOpen}>
        {isOpen && <MenuContent onKeys={onKeys} />}
      </div>
    </div>
  );
}

function MenuContent({ onKeys }: { onKeys: () => void }) {
  const { me, environment } = useSession();
  const address = useAddress();
  const [theme, setTheme] = useTheme();
  return (
    <>
      <p>
        <strong>
          <bdi>{me.member.name}</bdi>
        </strong>
        <br />
        <span class="small quiet">{me.member.email}</span>
        <br />
        <span class="small quiet">{texts.role(texts.roles[environment.role], environment.name)}</span>
      </p>
      <fieldset class="user-menu-themes">
        <legend class="small quiet">{texts.theme}</legend>
        {THEMES.map((one) => (
          <label key={one}>
            <input type="radio" name="theme" checked={theme === one} onChange={() => setTheme(one)} />
            {texts.themes[one]}
          </label>
        ))}
      </fieldset>
      <ul>
        <li>
          <a href={address("/account")}>{texts.account}</a>
        </li>
        <li>
          <button type="button" onClick={onKeys}>
            {texts.keys.title} <kbd>?</kbd>
          </button>
        </li>
        <li>
          <button type="button" onClick={signOut}>
            {texts.signOut}
          </button>
        </li>
      </ul>
    </>
  );
}

/** Escape, a click elsewhere, the focus elsewhere, and another page close what is open. */
function useClosing(container: { current: HTMLElement | null }, isOpen: boolean, close: () => void) {
  const { url } = useLocation();
  useEffect(() => close(), [url]);
  useEffect(() => {
    if (!isOpen) {
      return;
    }
    function leave(event: Event) {
      if (event.target instanceof Node && !container.current?.contains(event.target)) {
        close();
      }
    }
    function leaveByKey(event: KeyboardEvent) {
      if (event.key === "Escape") {
        close();
        container.current?.querySelector("button")?.focus();
      }
    }
    addEventListener("pointerdown", leave);
    addEventListener("focusin", leave);
    addEventListener("keydown", leaveByKey);
    return () => {
      removeEventListener("pointerdown", leave);
      removeEventListener("focusin", leave);
      removeEventListener("keydown", leaveByKey);
    };
  }, [isOpen]);
}

function initialsOf(name: string): string {
  const words = name.split(/\s+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
  return letters.map((word) => [...(word ?? "")][0] ?? "").join("");
}
