'use client';

export interface ChoiceProps<Option extends string> {
  legend: string;
  name: string;
  options: readonly Option[];
  value: Option;
  onValue: (value: Option) => void;
  children: (option: Option) => string;
}

/** One of several, as radio buttons. */
export function Choice<Option extends string>(props: ChoiceProps<Option>) {
  const { legend, name, options, value, onValue, children } = props;
  return (
    <fieldset className="min-w-0 border-0">
      <legend className="font-medium">{legend}</legend>
      {options.map((option) => (
        <label key={option} className="flex min-h-7 items-start gap-2 py-1 pointer-coarse:min-h-11">
          <input
            type="radio"
            name={name}
            checked={option === value}
            onChange={() => onValue(option)}
            className="mt-0.5 size-4 shrink-0 accent-accent"
          />
          {children(option)}
        </label>
      ))}
    </fieldset>
  );
}
