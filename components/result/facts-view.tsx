import { showControlCharacters } from '#lib/format/show-control-characters';
import type { Fact } from './choose-result-view.ts';

/** A few named values, e.g. what a device tells about itself. */
export const FactsView = ({ facts }: { facts: readonly Fact[] }) => (
  <dl className="grid items-baseline grid-cols-[minmax(0,auto)_minmax(0,1fr)] gap-x-4 gap-y-0.5">
    {facts.map(({ name, value }) => (
      <div key={name} className="contents">
        <dt className="mono text-muted wrap-anywhere">{showControlCharacters(name)}</dt>
        <dd className="min-w-0 wrap-anywhere">{factWords(value)}</dd>
      </div>
    ))}
  </dl>
);

function factWords(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : value.map(factWords).join(', ');
  if (value === '') return '""';
  return showControlCharacters(String(value));
}
