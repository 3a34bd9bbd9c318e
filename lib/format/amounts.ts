const SIZES = ['B', 'kB', 'MB', 'GB'] as const;

/** A size in thousands (FM5), as file managers and networks count it. */
export function formatBytes(bytes: number, locale: string): string {
  let size = Math.max(0, bytes);
  let unit: (typeof SIZES)[number] = 'B';
  for (const next of SIZES.slice(1)) {
    // 999.95 would read as 1,000.0 of the smaller unit.
    if (size < 999.95) break;
    size /= 1_000;
    unit = next;
  }
  return `${size.toLocaleString(locale, { maximumFractionDigits: unit === 'B' ? 0 : 1 })} ${unit}`;
}

type Units = Record<'ms' | 's' | 'm' | 'h', string>;

const UNITS: Record<'en' | 'zh', Units> = {
  en: { ms: ' ms', s: ' s', m: 'm', h: 'h' },
  zh: { ms: ' 毫秒', s: ' 秒', m: '分', h: '小时' },
};

/**
 * A duration as people read it (FM1, FM2, FM4). `whole` leaves out tenths, for
 * limits like `30 s`; `fromSeconds` has no smaller unit, for running clocks. Cut, not rounded: a running clock must not show a time early.
 */
export function formatDuration(
  ms: number,
  locale: string,
  more: { whole?: boolean; fromSeconds?: boolean } = {},
): string {
  const unit = locale.startsWith('zh') ? UNITS.zh : UNITS.en;
  const left = Math.max(0, ms);
  const inSeconds = more.fromSeconds || (more.whole && left === 0);
  if (left < 1 && !inSeconds) return `<1${unit.ms}`;
  if (left < 1_000 && !inSeconds) return `${Math.floor(left)}${unit.ms}`;
  if (left < 60_000) return `${seconds(left, locale, more.whole ?? false)}${unit.s}`;

  const total = Math.floor(left / 1_000);
  const [hours, minutes, rest] = [
    Math.floor(total / 3_600),
    Math.floor((total % 3_600) / 60),
    total % 60,
  ];
  const gap = locale.startsWith('zh') ? '' : ' ';
  const second = locale.startsWith('zh') ? '秒' : 's';
  if (hours > 0) return `${hours}${unit.h}${gap}${minutes}${unit.m}`;
  return `${minutes}${unit.m}${gap}${rest}${second}`;
}

function seconds(ms: number, locale: string, whole: boolean): string {
  const tenths = Math.floor(ms / 100) / 10;
  const isWhole = whole && Number.isInteger(tenths);
  return numberFormat(locale, isWhole ? 0 : 1).format(tenths);
}

const formats = new Map<string, Intl.NumberFormat>();

/** Kept: making one costs more than a whole card's tick, and clocks ask four times a second. */
function numberFormat(locale: string, digits: number): Intl.NumberFormat {
  const key = `${locale} ${digits}`;
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.NumberFormat(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  formats.set(key, made);
  return made;
}

/** Time left as `m:ss` (FM3). */
export function formatCountdown(ms: number): string {
  const total = Math.max(0, Math.ceil(ms / 1_000));
  return `${Math.floor(total / 60)}:${String(total % 60).padStart(2, '0')}`;
}

const STEPS = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'second', ms: 1_000 },
] as const;

const NOW_MS = 10_000;

/** How long ago, or until when (FM6). Both times in milliseconds. */
export function formatRelativeTime(at: number, now: number, locale: string): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const difference = at - now;
  if (Math.abs(difference) < NOW_MS) return format.format(0, 'second');
  const step = STEPS.find((one) => Math.abs(difference) >= one.ms) ?? STEPS[3];
  return format.format(Math.trunc(difference / step.ms), step.unit);
}
