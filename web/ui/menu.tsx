import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export type MenuItem = {
  label: string;
  /** A sentence about what it does. */
  detail?: string;
  mark?: string;
  onSelect: () => void;
  isDangerous?: boolean;
  disabled?: boolean;
};

type MenuProps = {
  /** What the button says to those who cannot see it. */
  label: string;
  children: ComponentChildren;
  items: readonly MenuItem[];
  /** Where the list lies below the button. */
  align?: "start" | "end";
  class?: string;
};

/** Pixels below the button; with less the list is above it, if there is more space. */
const ENOUGH_SPACE = 320;

/** A button that opens a list of actions: arrows move, Escape closes. */
export function Menu({ label, children, items, align = "end", class: extra = "" }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const [isAbove, setAbove] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isOpen) {
      listItems(element.current)[0]?.focus();
    }
  }, [isOpen]);

  function toggle() {
    const place = button.current?.getBoundingClientRect();
    const below = place ? innerHeight - place.bottom : 0;
    setAbove(place !== undefined && below < ENOUGH_SPACE && place.top > below);
    setOpen(!isOpen);
  }

  function handleKey(event: KeyboardEvent) {
    if (!isOpen) {
      return;
    }
    const all = listItems(element.current);
    const now = all.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === "Escape") {
      event.stopPropagation();
      setOpen(false);
      button.current?.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      event.stopPropagation();
      all[(now + (event.key === "ArrowDown" ? 1 : -1) + all.length) % all.length]?.focus();
    }
  }

  function select(item: MenuItem) {
    setOpen(false);
    button.current?.focus();
    item.onSelect();
  }

  return (
    <div
      ref={element}
      class={`menu ${extra}`}
      role="none"
      onKeyDown={handleKey}
      onFocusOut={(event) => {
        if (!element.current?.contains(event.relatedTarget as Node | null)) {
          setOpen(false);
        }
      }}
    >
      <button
        ref={button}
        type="button"
        class="button button-quiet button-sign menu-button"
        aria-label={label}
        aria-haspopup="true"
        aria-expanded={isOpen}
        title={label}
        onClick={toggle}
      >
        {children}
      </button>
      {isOpen && (
        <ul class={`menu-list menu-${align} ${isAbove ? "menu-above" : ""}`} aria-label={label}>
          {items.map((item) => (
            <li key={item.label}>
              <button
                type="button"
                class={`menu-item ${item.isDangerous ? "menu-danger" : ""}`}
                disabled={item.disabled}
                onClick={() => select(item)}
              >
                <span>
                  {item.mark && <span aria-hidden="true">{item.mark} </span>}
                  {item.label}
                </span>
                {item.detail && <span class="small quiet">{item.detail}</span>}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function listItems(element: HTMLElement | null): HTMLButtonElement[] {
  return [...(element?.querySelectorAll<HTMLButtonElement>(".menu-item:not(:disabled)") ?? [])];
}
