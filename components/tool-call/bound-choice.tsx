import { useTranslations } from 'next-intl';
import type { BoundArgument, BoundArguments } from '#lib/protocol/always';
import { Select } from '../ui/select.tsx';

type Args = Readonly<Record<string, unknown>>;

export interface BoundChoiceProps {
  /** They are those of the call that is decided. */
  args: Args;
  bound: BoundArguments;
  onChange: (bound: BoundArguments) => void;
}

/** Longer beginnings of a list are no choice. */
const MOST_START = 8;

/** A person chooses what a rule says of each argument of the call, and of others. */
export function BoundChoice({ args, bound, onChange }: BoundChoiceProps) {
  const t = useTranslations('card.always');
  const testOf = (name: string) => bound.arguments.find((one) => one.name === name);
  const choose = (name: string, next: BoundArgument | undefined) => {
    const others = bound.arguments.filter((one) => one.name !== name);
    const list = next ? [...others, next] : others;
    // Each argument of the call has to be named where no other may be there.
    const isAll = list.length === Object.keys(args).length;
    const other_arguments = isAll ? bound.other_arguments : 'any';
    onChange({ arguments: list, other_arguments });
  };
  return (
    <div className="mt-2 flex flex-col gap-1">
      {Object.entries(args).map(([name, value]) => (
        <OneArgument
          key={name}
          name={name}
          value={value}
          test={testOf(name)}
          onChange={(next) => choose(name, next)}
        />
      ))}
      {bound.arguments.length === Object.keys(args).length && (
        <Select
          label={t('othersLabel')}
          value={bound.other_arguments}
          onValueChange={(value) =>
            onChange({ ...bound, other_arguments: value === 'none' ? 'none' : 'any' })
          }
          options={(['none', 'any'] as const).map((one) => ({
            value: one,
            label: `${t('othersLabel')}: ${t(`others.${one}`)}`,
          }))}
        />
      )}
    </div>
  );
}

interface OneArgumentProps {
  name: string;
  value: unknown;
  test: BoundArgument | undefined;
  onChange: (test: BoundArgument | undefined) => void;
}

function OneArgument({ name, value, test, onChange }: OneArgumentProps) {
  const t = useTranslations('card.always');
  const starts = Array.isArray(value) ? value.slice(0, MOST_START).map((_, at) => at + 1) : [];
  const options = [
    { value: 'any', label: t('anyOf', { name }) },
    { value: 'is', label: t('same', { name }) },
    ...starts.map((count) => ({
      value: `start-${count}`,
      label: t('startsWith', { name, value: JSON.stringify((value as unknown[]).slice(0, count)) }),
    })),
    ...(typeof value === 'number' ? [{ value: 'most', label: t('limit', { name }) }] : []),
  ];
  const choose = (chosen: string) => {
    if (chosen === 'any') return onChange(undefined);
    if (chosen === 'most') return onChange({ name, at_most: Number(value) });
    if (!chosen.startsWith('start-') || !Array.isArray(value)) return onChange({ name, is: value });
    onChange({ name, starts_with: value.slice(0, Number(chosen.slice('start-'.length))) });
  };
  const chosen = !test
    ? 'any'
    : test.at_most !== undefined
      ? 'most'
      : test.starts_with
        ? `start-${test.starts_with.length}`
        : 'is';
  return (
    <span className="flex flex-wrap gap-2">
      <Select label={name} value={chosen} onValueChange={choose} options={options} />
      {test?.at_most !== undefined && (
        <input
          type="number"
          aria-label={t('limit', { name })}
          className="field w-32 py-1"
          defaultValue={test.at_most}
          min={Number(value)}
          onChange={({ target }) => {
            if (target.value !== '' && Number.isFinite(target.valueAsNumber))
              onChange({ name, at_most: target.valueAsNumber });
          }}
        />
      )}
    </span>
  );
}
