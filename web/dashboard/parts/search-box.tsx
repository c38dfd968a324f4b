import { useEffect, useRef, useState } from "preact/hooks";
import { useUrlState } from "../../api/url-state.ts";
import { TextField } from "../../ui/field.tsx";
import { useKey } from "../../ui/keys.ts";

const TYPING_PAUSE = 200;

/** A field that searches while one types; the text is `q` of the address, and "/" leads here. */
export function SearchBox({ label, placeholder }: { label: string; placeholder: string }) {
  const url = useUrlState();
  const inAddress = url.get("q");
  const [text, setText] = useState(inAddress);
  const place = useRef<HTMLDivElement>(null);
  const set = useRef(url.set);
  set.current = url.set;

  useEffect(() => setText(inAddress), [inAddress]);
  useEffect(() => {
    if (text.trim() === inAddress) {
      return;
    }
    const timer = setTimeout(() => set.current({ q: text.trim(), after: "", before: "" }), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [text, inAddress]);
  useKey("/", () => place.current?.querySelector("input")?.focus());

  return (
    <div class="people-search" ref={place}>
      <TextField type="search" label={label} placeholder={placeholder} value={text} onValue={setText} />
    </div>
  );
}
