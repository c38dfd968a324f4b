/** Pictures of the shell; what they mean is said beside them. */
const PATHS = {
  menu: "M3 5.5h14M3 10h14M3 14.5h14",
  search: "M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4Zm3.6 8.6L17 17",
};

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
