/** The time that is shown: a preset that ends now, or exact moments. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const LENGTHS = {
  "15m": 15 * MINUTE,
  "1h": HOUR,
  "6h": 6 * HOUR,
  "24h": DAY,
  "7d": 7 * DAY,
  "30d": 30 * DAY,
  "90d": 90 * DAY,
};

export type Preset = keyof typeof LENGTHS;
export const PRESETS = Object.keys(LENGTHS) as readonly Preset[];
export const DEFAULT_PRESET: Preset = "24h";

export type Range = {
  preset: Preset;
  /** Exact moments, which count instead of the preset; empty if there are none. */
  after: string;
  before: string;
};

export function readRange(get: (name: string) => string): Range {
  const preset = PRESETS.find((one) => one === get("range")) ?? DEFAULT_PRESET;
  return { preset, after: get("after"), before: get("before") };
}

export function isExact(range: Range): boolean {
  return range.after !== "" || range.before !== "";
}

/** Whether runs that begin now are within the range. */
export function endsNow(range: Range, now: number): boolean {
  return range.before === "" || Date.parse(range.before) > now;
}

/** The beginning and the end as the API takes them. */
export function boundsOf(range: Range, now: number): { after?: string; before?: string } {
  if (!isExact(range)) {
    return { after: new Date(now - LENGTHS[range.preset]).toISOString() };
  }
  return { ...(range.after && { after: range.after }), ...(range.before && { before: range.before }) };
}

/** Bounds for counts, which need both ends to be about the same time as the list. */
export function countBoundsOf(range: Range, now: number): { after?: string; before?: string } {
  const bounds = boundsOf(range, now);
  if (bounds.after || !bounds.before) {
    return bounds;
  }
  const end = Date.parse(bounds.before);
  return Number.isNaN(end) ? bounds : { ...bounds, after: new Date(end - LENGTHS[range.preset]).toISOString() };
}

/** The next longer preset, for those who find nothing. */
export function widerPreset(preset: Preset): Preset | undefined {
  return PRESETS[PRESETS.indexOf(preset) + 1];
}
