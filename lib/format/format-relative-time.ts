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
