import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { texts } from "./texts.ts";

type BrushProps = {
  /** What is chosen from. */
  label: string;
  /** How many equal parts the content has, from left to right. */
  count: number;
  /** What the parts from `first` to `last` are. */
  describe: (first: number, last: number) => string;
  onSelect: (first: number, last: number) => void;
  children: ComponentChildren;
};

type Selection = { anchor: number; end: number };

/** Lets people choose a part of a chart: by dragging, or with arrows, Shift and Enter. */
export function Brush({ label, count, describe, onSelect, children }: BrushProps) {
  const id = useId();
  const element = useRef<HTMLDivElement>(null);
  const isDragging = useRef(false);
  const [chosen, setChosen] = useState<Selection | null>(null);
  const selection = chosen && { anchor: within(chosen.anchor, count), end: within(chosen.end, count) };

  function indexAt(event: PointerEvent): number {
    const box = element.current?.getBoundingClientRect();
    return box ? within(Math.floor(((event.clientX - box.left) / box.width) * count), count) : 0;
  }

  function finish(done: Selection | null) {
    isDragging.current = false;
    setChosen(null);
    if (done) {
      onSelect(Math.min(done.anchor, done.end), Math.max(done.anchor, done.end));
    }
  }

  function handleKey(event: KeyboardEvent) {
    if (event.key === "Escape" && selection) {
      setChosen(null);
    } else if (event.key === "Enter" && selection) {
      finish(selection);
    } else {
      const end = moveTo(event.key, selection?.end ?? count, count);
      if (end === null) {
        return;
      }
      setChosen({ anchor: event.shiftKey && selection ? selection.anchor : end, end });
    }
    event.preventDefault();
  }

  const first = selection ? Math.min(selection.anchor, selection.end) : 0;
  const last = selection ? Math.max(selection.anchor, selection.end) : 0;
  return (
    <div
      ref={element}
      class="brush"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-describedby={`${id}-hint`}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, count - 1)}
      aria-valuenow={selection ? last : Math.max(0, count - 1)}
      aria-valuetext={selection ? describe(first, last) : texts.nothingChosen}
      onKeyDown={handleKey}
      onBlur={() => setChosen(null)}
      onPointerDown={(event) => {
        if (event.button === 0 && count > 0) {
          isDragging.current = true;
          element.current?.setPointerCapture(event.pointerId);
          setChosen({ anchor: indexAt(event), end: indexAt(event) });
        }
      }}
      onPointerMove={(event) => {
        if (isDragging.current && selection) {
          setChosen({ ...selection, end: indexAt(event) });
        }
      }}
      onPointerUp={() => isDragging.current && finish(selection)}
      onPointerCancel={() => finish(null)}
    >
      {children}
      {selection && (
        <>
          <div
            class="brush-selection"
            style={{ insetInlineStart: `${(100 * first) / count}%`, width: `${(100 * (last - first + 1)) / count}%` }}
          />
          <p class="brush-words">{describe(first, last)}</p>
        </>
      )}
      <span id={`${id}-hint`} class="visually-hidden">
        {texts.brushHint}
      </span>
    </div>
  );
}

function within(index: number, count: number): number {
  return Math.max(0, Math.min(count - 1, index));
}

function moveTo(key: string, from: number, count: number): number | null {
  const targets: Record<string, number> = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: count - 1 };
  const target = targets[key];
  return target === undefined ? null : within(target, count);
}
