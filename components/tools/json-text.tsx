'use client';

import { useState } from 'react';
import { visibleJsonText } from '#lib/format/show-control-characters';
import { errorMessage } from '#lib/util/error-message';

export interface JsonTextProps {
  id: string;
  /** `undefined` is shown as an empty field. */
  value: unknown;
  label?: string;
  describedBy?: string;
  isInvalid: boolean;
  rows: number;
  /** Called with `undefined` for an empty field. */
  onValue: (value: unknown) => void;
  onProblem: (message: string) => void;
}

/** A value as JSON text. Follows the value from outside, and leaves the person's own layout alone. */
export function JsonText(props: JsonTextProps) {
  const given = toText(props.value);
  const [text, setText] = useState(given);
  const [current, setCurrent] = useState(given);
  // The value changed elsewhere, e.g. in the form beside: show that one.
  if (current !== given) {
    setCurrent(given);
    setText(given);
  }

  const change = (next: string) => {
    setText(next);
    const parsed = parse(next);
    if (!parsed.ok) return props.onProblem(parsed.message);
    setCurrent(toText(parsed.value));
    props.onValue(parsed.value);
  };
  return (
    <textarea
      id={props.id}
      aria-label={props.label}
      aria-describedby={props.describedBy}
      aria-invalid={props.isInvalid}
      spellCheck={false}
      rows={Math.max(props.rows, Math.min(16, text.split('\n').length))}
      value={text}
      onChange={(event) => change(event.target.value)}
      className="field mono w-full"
    />
  );
}

const toText = (value: unknown): string => (value === undefined ? '' : visibleJsonText(value));

function parse(text: string): { ok: true; value: unknown } | { ok: false; message: string } {
  if (text.trim() === '') return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, message: errorMessage(error) };
  }
}
