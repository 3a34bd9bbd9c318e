'use client';

import type { ReactNode } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { useFormatFailure } from './format-failure.ts';

export interface FetchedProps<T> {
  /** Null while it is fetched. */
  answer: ApiResult<T> | null;
  /** Shown meanwhile. */
  loading: ReactNode;
  children: (value: T) => ReactNode;
}

/** What is drawn of an answer, once it has come; until then that it is fetched, or why it could not be. */
export function Fetched<T>({ answer, loading, children }: FetchedProps<T>) {
  const formatFailure = useFormatFailure();
  if (answer === null) return loading;
  if (answer.ok) return children(answer.value);
  return (
    <p role="alert" className="text-error wrap-anywhere">
      {showControlCharacters(formatFailure(answer))}
    </p>
  );
}
