/** How a text message is counted: its encoding and its parts, as the service counts them. */

const GSM7 = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
/** These need an escape, so each takes two septets. */
const GSM7_EXTENSION = new Set("^{}\\[~]|€\f");
const MAX_NAMED = 8;

export type SmsCount = {
  characters: number;
  encoding: "GSM-7" | "UCS-2";
  parts: number;
  /** How much of the last part is used, and how much fits into it. */
  used: number;
  limit: number;
  /** Characters that need UCS-2. */
  special: string[];
};

export function countSms(text: string): SmsCount {
  const letters = [...text];
  const special = [...new Set(letters.filter((one) => !GSM7.has(one) && !GSM7_EXTENSION.has(one)))];
  const isPlain = special.length === 0;
  const widths = letters.map((one) => (isPlain ? (GSM7_EXTENSION.has(one) ? 2 : 1) : one.length));
  const [single, several] = isPlain ? [160, 153] : [70, 67];
  return {
    characters: letters.length,
    encoding: isPlain ? "GSM-7" : "UCS-2",
    ...countParts(widths, single, several),
    special: special.slice(0, MAX_NAMED),
  };
}

/** A character is never split: if it does not fit, it starts the next part. */
function countParts(widths: readonly number[], single: number, several: number) {
  const total = widths.reduce((sum, width) => sum + width, 0);
  if (total <= single) {
    return { parts: 1, used: total, limit: single };
  }
  let [parts, used] = [1, 0];
  for (const width of widths) {
    if (used + width > several) {
      parts += 1;
      used = 0;
    }
    used += width;
  }
  return { parts, used, limit: several };
}
