import { ChevronDown } from 'lucide-react';
import type { ComponentProps } from 'react';

export interface SelectOption {
  readonly value: string;
  readonly label: string;
  readonly disabled?: boolean;
}

export interface SelectProps extends Omit<ComponentProps<'select'>, 'onChange' | 'children'> {
  label: string;
  options: readonly SelectOption[];
  onValueChange: (value: string) => void;
}

/** The browser's own select, so that phones draw their picker and every keyboard way works. */
export function Select({ label, options, onValueChange, className = '', ...props }: SelectProps) {
  return (
    <span className={`relative inline-flex min-w-0 ${className}`}>
      <select
        {...props}
        aria-label={label}
        onChange={(event) => onValueChange(event.target.value)}
        className="field w-full min-w-0 appearance-none truncate py-1 pr-7 disabled:opacity-55"
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDown
        aria-hidden
        className="pointer-events-none absolute right-2 top-1/2 size-4 -translate-y-1/2 text-muted"
      />
    </span>
  );
}
