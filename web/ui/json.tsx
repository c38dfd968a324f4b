/** A value as JSON, which the keyboard can scroll. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <section class="json-region" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <pre class="json" tabIndex={0}>
        {JSON.stringify(value, null, 2)}
      </pre>
    </section>
  );
}
