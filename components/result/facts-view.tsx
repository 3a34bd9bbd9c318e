import { Fragment } from 'react';
import { jsonLine } from '#lib/format/json-preview';
import { MarkedText } from '../ui/marked-text.tsx';
import type { Fact } from './choose-result-view.ts';

/** A few named values, e.g. what a device reports about itself. */
export const FactsView = ({ facts }: { facts: readonly Fact[] }) => (
  <dl className="grid items-baseline grid-cols-[minmax(0,auto)_minmax(0,1fr)] gap-x-4 gap-y-0.5">
    {facts.map(({ name, value }) => (
      <div key={name} className="contents">
        <dt className="mono text-muted wrap-anywhere">
          <MarkedText text={name} />
        </dt>
        <dd className="min-w-0 wrap-anywhere">
          <FactValue value={value} />
        </dd>
      </div>
    ))}
  </dl>
);

/** Facts are short; what is longer than this was no fact. */
const MAX_CHARS = 400;

function FactValue({ value }: { value: unknown }) {
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item: unknown, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: items have no name and never change places.
      <Fragment key={at}>
        {at > 0 && ', '}
        <FactValue value={item} />
      </Fragment>
    ));
  }
  const isText = typeof value === 'string' && value !== '';
  return <MarkedText text={isText ? value : jsonLine(value, MAX_CHARS)} />;
}
