'use client';

import { useTranslations } from 'next-intl';
import { Fragment } from 'react';
import {
  codePointName,
  type ShowOptions,
  showControlCharacters,
  textParts,
} from '#lib/format/show-control-characters';

export interface MarkedTextProps extends ShowOptions {
  text: string;
}

/** A text made of little else would be as many elements; beyond this marks are plain text. */
const MAX_MARKS = 500;
/** Of a long run of marks so many are named, and all are counted. */
const MAX_NAMED = 8;

/**
 * A text that others wrote: its hidden characters are drawn as marks, with a look
 * and a name that no text can have. In attributes use `showControlCharacters`.
 */
export function MarkedText({ text, keepLayout = false }: MarkedTextProps) {
  const parts = textParts(text, { keepLayout });
  if (parts.every(({ hidden }) => hidden.length === 0)) return text;
  if (parts.length > 2 * MAX_MARKS) return showControlCharacters(text, { keepLayout });
  return keyed(parts).map(([key, part]) =>
    part.hidden.length === 0 ? (
      <Fragment key={key}>{part.text}</Fragment>
    ) : (
      <Mark key={key} text={part.text} hidden={part.hidden} />
    ),
  );
}

/** Parts of one text have no name of their own but their place. */
const keyed = <T,>(parts: readonly T[]): [string, T][] =>
  parts.map((part, at) => [`part-${at}`, part]);

function Mark({ text, hidden }: { text: string; hidden: readonly number[] }) {
  const t = useTranslations('shell');
  const codes = hidden.slice(0, MAX_NAMED).map(codePointName).join(', ');
  const name = t('hidden', {
    count: hidden.length,
    codes: hidden.length > MAX_NAMED ? `${codes}, …` : codes,
  });
  return (
    <span role="img" aria-label={name} title={name} className="hidden-mark">
      {text}
    </span>
  );
}
