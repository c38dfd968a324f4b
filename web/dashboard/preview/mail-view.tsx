import { useEffect, useRef, useState } from "preact/hooks";
import { Frame, type Scheme } from "../../ui/frame.tsx";
import { texts } from "../texts/preview.ts";
import { ChoiceRow } from "./choice-row.tsx";

/** Pixels, as wide as on a desk or in a hand. */
const WIDTHS = { desktop: 600, phone: 390 } as const;

type Width = keyof typeof WIDTHS;

/** The HTML of a mail in both widths, light and dark; it is made smaller where there is less space. */
export function MailView({ html }: { html: string }) {
  const [width, setWidth] = useState<Width>("desktop");
  const [scheme, setScheme] = useState<Scheme>("light");
  return (
    <div class="preview-view">
      <div class="preview-choices">
        <ChoiceRow label={texts.width} words={texts.widths} value={width} onValue={setWidth} />
        <ChoiceRow label={texts.scheme} words={texts.schemes} value={scheme} onValue={setScheme} />
      </div>
      <ScaledFrame html={html} width={WIDTHS[width]} scheme={scheme} />
      {scheme === "dark" && <p class="small quiet preview-note">{texts.darkHint}</p>}
    </div>
  );
}

function ScaledFrame({ html, width, scheme }: { html: string; width: number; scheme: Scheme }) {
  const place = useRef<HTMLDivElement>(null);
  const [space, setSpace] = useState<number>(width);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setSpace(entry.contentRect.width));
    if (place.current) {
      observer.observe(place.current);
    }
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={place} class="preview-frame">
      <div style={{ zoom: Math.min(1, space / width), width: `${width}px` }}>
        <Frame title={texts.emailBody} html={html} width={width} scheme={scheme} />
      </div>
    </div>
  );
}
