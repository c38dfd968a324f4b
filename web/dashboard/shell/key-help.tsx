import { Dialog } from "../../ui/dialog.tsx";
import { listKeys } from "../../ui/keys.ts";
import { findPage } from "../pages.ts";
import { texts } from "../texts/shell.ts";
import { SHORTCUTS } from "./shortcuts.ts";

const words = texts.keys;

/** All keys: those of every page, and those of the page that is shown. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const own = listKeys();
  return (
    <Dialog title={words.title} onClose={onClose}>
      <dl class="key-help">
        <Entry keys={["⌘", "K"]} or={["Ctrl", "K"]} text={words.palette} />
        <Entry keys={["/"]} text={words.search} />
        <Entry keys={["?"]} text={words.help} />
        <Entry keys={["Esc"]} text={words.close} />
      </dl>
      {own.length > 0 && (
        <section class="stack">
          <h3>{words.onPage}</h3>
          <dl class="key-help">
            {own.map((one) => (
              <Entry key={one.key} keys={one.key.replace("mod+", "⌘ ").split(" ")} text={one.label} />
            ))}
          </dl>
        </section>
      )}
      <section class="stack">
        <h3>{words.go}</h3>
        <dl class="key-help">
          {Object.entries(SHORTCUTS).map(([letter, path]) => (
            <Entry key={letter} keys={["g", letter]} isSequence text={findPage(path)?.title ?? path} />
          ))}
        </dl>
      </section>
    </Dialog>
  );
}

type EntryProps = { keys: readonly string[]; or?: readonly string[]; isSequence?: boolean; text: string };

function Entry({ keys, or, isSequence = false, text }: EntryProps) {
  return (
    <div>
      <dt>
        <Keys keys={keys} between={isSequence ? ` ${words.after} ` : " "} />
        {or && <Keys keys={or} between=" " />}
      </dt>
      <dd>{text}</dd>
    </div>
  );
}

function Keys({ keys, between }: { keys: readonly string[]; between: string }) {
  return (
    <span class="small quiet">
      {keys.map((key, index) => (
        <>
          {index > 0 && between}
          <kbd>{key}</kbd>
        </>
      ))}
    </span>
  );
}
