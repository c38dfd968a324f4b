import { useEffect, useRef } from "preact/hooks";

export type Tab = { href: string; label: string; isCurrent: boolean };

/** The parts of a page, each with an address of its own. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const element = useRef<HTMLElement>(null);
  const current = tabs.find((tab) => tab.isCurrent)?.href;
  // On a narrow screen the row scrolls, and the part that is shown may be at its end.
  useEffect(() => {
    const shown = element.current?.querySelector<HTMLElement>("[aria-current]");
    if (element.current && shown && current !== undefined) {
      const { offsetLeft, offsetWidth } = shown;
      const middle = offsetLeft - element.current.offsetLeft + offsetWidth / 2;
      element.current.scrollLeft = middle - element.current.clientWidth / 2;
    }
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={element}>
      {tabs.map((tab) => (
        <a key={tab.href} href={tab.href} {...(tab.isCurrent && { "aria-current": "page" as const })}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
}
