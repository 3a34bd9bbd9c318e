const days = (year: number, month: number): number =>
  new Date(Date.UTC(year, month, 0)).getUTCDate();

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= days(year, month);
}

const TIME =
  /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

const OCTET = /^(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/;

/**
 * The formats that are checked; others are remarks, as JSON Schema has it. All
 * are linear in the text. Addresses are checked in outline only: what is a real
 * one is for the tool to decide.
 */
const FORMAT_RULES = new Map<string, (text: string) => boolean>([
  ['date', isDate],
  ['time', (text) => TIME.test(text)],
  [
    'date-time',
    (text) => /^.{10}[t ]/i.test(text) && isDate(text.slice(0, 10)) && TIME.test(text.slice(11)),
  ],
  ['uuid', (text) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)],
  ['email', (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  ['uri', (text) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text)],
  [
    'ipv4',
    (text) => {
      const parts = text.split('.', 5);
      return parts.length === 4 && parts.every((part) => OCTET.test(part));
    },
  ],
]);

/** Whether `text` has the format, or the format is not one that is checked. */
export const hasFormat = (format: string, text: string): boolean =>
  FORMAT_RULES.get(format)?.(text) ?? true;
