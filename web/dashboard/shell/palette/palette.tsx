import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { Problem } from "../../../ui/problem.tsx";
import { useAddress, useCan, useSession } from "../../session.ts";
import { texts } from "../../texts/palette.ts";
import { rememberRecent } from "../recent.ts";
import { type Entry, entryOf, matchEntries } from "./entries.ts";
import { EntryList } from "./entry-list.tsx";
import { useOwnEntries, useRecentEntries } from "./own-entries.ts";

const TYPING_PAUSE = 120;

export type PaletteProps = { onClose: () => void; onKeys: () => void };

/** Finds everything by typing: arrows move, Enter opens. */
export function PaletteDialog({ onClose, onKeys }: PaletteProps) {
  const element = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const { entries, isSearching, error } = useEntries(text, onKeys);
  const open = useOpening();
  const chosen = entries[Math.min(active, entries.length - 1)];

  useEffect(() => element.current?.showModal(), []);
  useEffect(() => setActive(0), [text]);

  function choose(entry: Entry) {
    element.current?.close();
    open(entry);
  }

  function handleKey(event: KeyboardEvent) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setActive((now) => (entries.length ? (now + step + entries.length) % entries.length : 0));
    } else if (event.key === "Enter" && chosen && !event.isComposing) {
      event.preventDefault();
      choose(chosen);
    }
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it; the keyboard has Escape
    <dialog
      ref={element}
      class="palette"
      aria-label={texts.title}
      onClose={onClose}
      onClick={(event) => event.target === element.current && element.current?.close()}
    >
      <div class="palette-body">
        <input
          class="palette-field"
          type="text"
          role="combobox"
          aria-label={texts.field}
          aria-expanded="true"
          aria-controls="palette-list"
          aria-autocomplete="list"
          {...(chosen && { "aria-activedescendant": chosen.id })}
          autoComplete="off"
          spellcheck={false}
          placeholder={texts.field}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={handleKey}
        />
        {error !== null && <Problem error={error} />}
        <EntryList entries={entries} chosen={chosen} onChoose={choose} />
        <Outcome text={text} count={entries.length} isSearching={isSearching} />
      </div>
    </dialog>
  );
}

function Outcome({ text, count, isSearching }: { text: string; count: number; isSearching: boolean }) {
  if (text.trim() !== "" && count === 0 && !isSearching) {
    return (
      <div class="palette-nothing" role="status">
        <p>{texts.nothing(text)}</p>
        <p class="small quiet">{texts.nothingHint}</p>
      </div>
    );
  }
  return (
    <p class="palette-foot small quiet">
      <span role="status">{isSearching ? texts.searching : texts.results(count)}</span>
      <span aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> {texts.keys.move} · <kbd>↵</kbd> {texts.keys.choose} · <kbd>Esc</kbd>{" "}
        {texts.keys.close}
      </span>
    </p>
  );
}

/** What fits to the text: what was opened last, what is found, pages and actions. */
function useEntries(text: string, onKeys: () => void) {
  const own = useOwnEntries(onKeys);
  const recent = useRecentEntries();
  const { found, isSearching, error } = useSearch(text.trim());
  if (text.trim() === "") {
    return { entries: [...recent, ...own], isSearching: false, error: null };
  }
  const known = matchEntries(recent, text);
  const paths = new Set(known.map((one) => "path" in one && one.path));
  const fresh = found.filter((one) => !("path" in one) || !paths.has(one.path));
  return { entries: [...known, ...fresh, ...matchEntries(own, text)], isSearching, error };
}

function useSearch(text: string) {
  const canSearch = useCan("search:read");
  const [state, setState] = useState<{ for: string; found: Entry[]; error: unknown }>({
    for: "",
    found: [],
    error: null,
  });
  useEffect(() => {
    if (text === "" || !canSearch) {
      return;
    }
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const query = { q: text.slice(0, 200), limit: 20 };
        const { data } = dataOf(await api.GET("/v1/search", { params: { query }, signal: controller.signal }));
        setState({ for: text, found: data.map(entryOf), error: null });
      } catch (error) {
        if (!controller.signal.aborted) {
          setState({ for: text, found: [], error });
        }
      }
    }, TYPING_PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, canSearch]);
  // What was found for the text before stays until there is something better, so that nothing flickers.
  return { found: state.found, isSearching: canSearch && state.for !== text, error: state.error };
}

/** Goes where an entry leads, and remembers things that were opened. */
function useOpening(): (entry: Entry) => void {
  const { environment } = useSession();
  const { route } = useLocation();
  const address = useAddress();
  return (entry) => {
    if (!("path" in entry)) {
      entry.run();
      return;
    }
    if (entry.group !== "actions") {
      rememberRecent(environment.identifier, { address: entry.path, title: entry.title, detail: entry.kind });
    }
    route(address(entry.path));
  };
}
