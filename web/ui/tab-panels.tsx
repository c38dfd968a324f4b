import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";

export type TabPanel = { name: string; label: string; show: () => ComponentChildren };

/** Views of one thing, of which one is shown; arrows move between them. Parts of a page are `Tabs`, with addresses. */
export function TabPanels({ label, panels }: { label: string; panels: readonly TabPanel[] }) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState("");
  const current = panels.find((panel) => panel.name === chosen) ?? panels[0];

  function handleKey(event: KeyboardEvent) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || current === undefined) {
      return;
    }
    event.preventDefault();
    const place = (panels.indexOf(current) + step + panels.length) % panels.length;
    setChosen(panels[place]?.name ?? "");
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[place]?.focus();
  }

  return (
    <div class="tab-panels">
      <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={handleKey}>
        {panels.map((panel) => (
          <button
            key={panel.name}
            type="button"
            role="tab"
            id={`${id}-${panel.name}`}
            aria-selected={panel === current}
            aria-controls={`${id}-panel`}
            tabIndex={panel === current ? 0 : -1}
            onClick={() => setChosen(panel.name)}
          >
            {panel.label}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${current?.name}`}>
        {current?.show()}
      </div>
    </div>
  );
}
