/** Reads moments as the service does: ISO 8601, in UTC unless a zone is named. */

const DATE = /^(\d{4})-?(?:(\d{2})-?(\d{2})|W(\d{2})(?:-?([1-7]))?)/;
const TIME = /^(\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)?(Z|([+-])(\d{2})(?::?(\d{2})(?::?(\d{2}))?)?)?$/;
const DAY = 86_400_000;

/** The moment of a text in milliseconds, or null if it is none; a bare number is no date. */
export function findDate(value: unknown): number | null {
  if (typeof value !== "string" || !value.includes("-")) {
    return null;
  }
  const text = value.trim();
  return text.length >= 10 && text.length <= 40 ? findMoment(text) : null;
}

function findMoment(text: string): number | null {
  const date = DATE.exec(text);
  const day = date && dayOf(date);
  if (!date || day === null) {
    return null;
  }
  const rest = text.slice(date[0].length);
  if (rest === "") {
    return day;
  }
  // Any single character may stand between date and time.
  const time = timeOf([...rest].slice(1).join(""));
  return time === null ? null : (day as number) + time;
}

function dayOf([, year, month, day, week, weekday]: RegExpExecArray): number | null {
  const number = Number(year);
  if (number < 1) {
    return null;
  }
  return week === undefined
    ? calendarDay(number, Number(month), Number(day))
    : weekDay(number, Number(week), Number(weekday ?? 1));
}

function calendarDay(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : null;
}

function weekDay(year: number, week: number, weekday: number): number | null {
  const fourth = calendarDay(year, 1, 4) as number;
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY;
  const found = monday + ((week - 1) * 7 + weekday - 1) * DAY;
  // A week belongs to the year of its Thursday.
  const thursday = new Date(monday + ((week - 1) * 7 + 3) * DAY);
  return week >= 1 && thursday.getUTCFullYear() === year ? found : null;
}

function timeOf(text: string): number | null {
  const found = TIME.exec(text);
  if (found === null) {
    return null;
  }
  const [
    ,
    hours,
    minutes = 0,
    seconds = 0,
    fraction = "",
    zone,
    sign,
    zoneHours = 0,
    zoneMinutes = 0,
    zoneSeconds = 0,
  ] = found;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59 || Number(zoneMinutes) > 59) {
    return null;
  }
  const milliseconds = Math.floor(Number(`0.${fraction.slice(0, 6) || 0}`) * 1_000_000) / 1000;
  const offset = Number(zoneHours) * 3600 + Number(zoneMinutes) * 60 + Number(zoneSeconds);
  if (zone !== undefined && offset >= 86_400) {
    return null;
  }
  const local = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000 + Math.floor(milliseconds);
  return local - (sign === "-" ? -1 : 1) * offset * 1000;
}
