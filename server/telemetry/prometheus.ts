/** A family of metrics as its text in the exposition format 0.0.4 of Prometheus. */
export interface Metric {
  text(): string;
}

type Labels = Readonly<Record<string, string>>;

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');

const head = (name: string, help: string, type: 'counter' | 'gauge' | 'histogram'): string =>
  `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;

const labelText = (labels: Labels): string => {
  const named = Object.entries(labels).filter(([name]) => name !== '');
  const pairs = named.map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
};

const toLabels = <Name extends string>(names: readonly Name[], values: readonly string[]): Labels =>
  Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']));

/** A value that is read when the metrics are. */
export const gauge = (
  name: string,
  help: string,
  read: () => number | ReadonlyMap<string, number>,
  label = '',
): Metric => ({
  text() {
    const value = read();
    const rows = typeof value === 'number' ? [['', value] as const] : [...value];
    const lines = rows.map(
      ([of, count]) => `${name}${labelText(label === '' ? {} : { [label]: of })} ${count}\n`,
    );
    return head(name, help, 'gauge') + lines.join('');
  },
});

/** Counts by labels; the values of each label are a closed set, or bounded by the caller. */
export function counter(name: string, help: string, labels: readonly string[]) {
  const counts = new Map<string, { readonly values: readonly string[]; count: number }>();
  const addTo = (by: number, ...values: string[]): void => {
    const key = values.join('\n');
    const known = counts.get(key);
    if (known) known.count += by;
    else counts.set(key, { values, count: by });
  };
  return {
    addTo,
    add: (...values: string[]): void => addTo(1, ...values),
    text: () =>
      head(name, help, 'counter') +
      [...counts.values()]
        .map(({ values, count }) => `${name}${labelText(toLabels(labels, values))} ${count}\n`)
        .join(''),
  };
}

/** Seconds; from the OpenTelemetry conventions for generative AI. */
const SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const;

/** How long something took, by one label; `''` for none. */
export function histogram(
  name: string,
  help: string,
  label: string,
  bounds: readonly number[] = SECONDS,
) {
  const series = new Map<string, { readonly counts: number[]; sum: number; count: number }>();
  const rowsOf = (
    value: string,
    { counts, sum, count }: { counts: number[]; sum: number; count: number },
  ) => {
    let below = 0;
    const buckets = bounds.map((bound, at) => {
      below += counts[at] ?? 0;
      return `${name}_bucket${labelText({ [label]: value, le: String(bound) })} ${below}\n`;
    });
    const of = labelText({ [label]: value });
    const last = `${name}_bucket${labelText({ [label]: value, le: '+Inf' })} ${count}\n`;
    return `${buckets.join('')}${last}${name}_sum${of} ${sum}\n${name}_count${of} ${count}\n`;
  };
  return {
    observe(value: string, seconds: number): void {
      const one = series.get(value) ?? { counts: bounds.map(() => 0), sum: 0, count: 0 };
      series.set(value, one);
      const at = bounds.findIndex((bound) => seconds <= bound);
      if (at >= 0) one.counts[at] = (one.counts[at] ?? 0) + 1;
      one.sum += seconds;
      one.count += 1;
    },
    text: () =>
      head(name, help, 'histogram') +
      [...series].map(([value, one]) => rowsOf(value, one)).join(''),
  };
}

/** The first `most` values as they are, each further one as `_other`: clients choose names. */
export function boundedLabel(most: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most) return '_other';
    known.add(value);
    return value;
  };
}
