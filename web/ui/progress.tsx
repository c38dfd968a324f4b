type ProgressProps = {
  label: string;
  done: number;
  all: number;
};

/** How far something is. */
export function Progress({ label, done, all }: ProgressProps) {
  return <progress class="progress" aria-label={label} max={all || 1} value={done} />;
}
