'use client';

import { useLocale, useMessages, useTranslations } from 'next-intl';
import { useCallback } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { personName } from '#lib/format/person-name';
import { showErrorToast } from '../ui/toast.ts';

/** A request of this page that was refused, or got no answer. */
export type FailedRequest = Pick<ApiFailure, 'code' | 'message' | 'status' | 'params'>;

/**
 * Why a request failed, in the language of the page, by its code (LN5). The server explains itself
 * in English, so its own words are shown in English alone; those of the browser never are.
 */
export function useFormatFailure(): (failure: FailedRequest) => string {
  const t = useTranslations('errors');
  const { request } = useMessages().errors;
  const isEnglish = useLocale().startsWith('en');
  return useCallback(
    ({ code, message, status, params }) => {
      const words = params && wordsOf(code, params, t);
      if (words !== undefined) return words;
      const isKnown = (one: string): one is keyof typeof request => Object.hasOwn(request, one);
      const isFromServer = status !== 0 && code !== 'unexpected_answer';
      if (isEnglish && isFromServer) return message;
      return isKnown(code) ? t(`request.${code}`, { status }) : t('refused', { code, status });
    },
    [t, request, isEnglish],
  );
}

/** Of codes whose facts the server gives: as complete as its own words, and in the language of the page. */
function wordsOf(
  code: string,
  { by, decision, status }: NonNullable<FailedRequest['params']>,
  t: ReturnType<typeof useTranslations<'errors'>>,
): string | undefined {
  if (by !== undefined && decision !== undefined) {
    return t(`decided_before.${didOf(decision)}`, { name: personName(by) });
  }
  const end = ENDS.find((one) => one === status);
  return code === 'already_final' && end ? t(`ended_before.${end}`) : undefined;
}

const ENDS = ['SUCCEEDED', 'FAILED', 'TIMEOUT'] as const;

const DID = { no: 'denied', answer: 'answered', cancel: 'cancelled' } as const;

const didOf = (decision: string) =>
  decision === 'no' || decision === 'answer' || decision === 'cancel' ? DID[decision] : 'allowed';

/** Shows in a toast that what a person asked for failed, and why. */
export function useFailureToast(): (title: string, failure: FailedRequest) => void {
  const words = useFormatFailure();
  return useCallback((title, failure) => showErrorToast(title, words(failure)), [words]);
}
