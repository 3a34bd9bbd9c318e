'use client';

import { useTranslations } from 'next-intl';
import { type FormEvent, useId, useRef, useState, useSyncExternalStore } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { useFormatFailure } from '../failure/format-failure.ts';
import { Button } from '../ui/button.tsx';
import { SignInFrame } from './sign-in-frame.tsx';
import { type SignInWith, signInWith } from './sign-in-with.ts';

export interface SignInFormProps {
  /** Why one is here, when it was not by choice. */
  reason: 'ended' | 'linkUsed' | null;
  /** Of what was tried before the form was there. */
  failure?: ApiFailure | null;
  /** Where to go afterwards; a path of this site. */
  next: string;
  signIn?: SignInWith;
  go?: (path: string) => void;
}

const never = () => () => {};
const yes = () => true;
const no = () => false;

/** Takes the operator's token and goes on to where one wanted to be. */
export function SignInForm(props: SignInFormProps) {
  const { reason, failure = null, next, signIn = signInWith } = props;
  const { go = (path) => location.assign(path) } = props;
  const t = useTranslations('signIn');
  const formatFailure = useFormatFailure();
  const [pending, setPending] = useState(false);
  const [problem, setProblem] = useState(failure && explain(t, failure, formatFailure));
  const isListening = useSyncExternalStore(never, yes, no);
  const problemId = useId();
  const field = useRef<HTMLInputElement>(null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? '';
    setProblem(null);
    setPending(true);
    const answer = token === '' ? null : await signIn({ token });
    if (answer?.ok) return go(next);
    setPending(false);
    setProblem(answer ? explain(t, answer, formatFailure) : t('empty'));
    field.current?.focus();
  };

  return (
    <SignInFrame>
      {reason && (
        <p role="status" className="rounded-lg border border-line bg-surface px-3 py-2">
          {t(reason)}
        </p>
      )}
      {/* Sent before our code listens, the browser would put the token into the address. */}
      <form method="post" onSubmit={submit} className="space-y-3">
        <label className="block space-y-1">
          <span className="font-medium">{t('token')}</span>
          <input
            ref={field}
            type="password"
            name="token"
            autoComplete="current-password"
            autoCapitalize="none"
            spellCheck={false}
            aria-invalid={problem !== null}
            aria-describedby={problem === null ? undefined : problemId}
            className="field mono w-full"
          />
        </label>
        <p role="alert" id={problemId} className="text-error empty:hidden">
          {problem}
        </p>
        <Button
          type="submit"
          variant="primary"
          disabled={pending || !isListening}
          className="w-full"
        >
          {pending ? t('submitting') : t('submit')}
        </Button>
      </form>
      <SignInHelp />
    </SignInFrame>
  );
}

type Translate = ReturnType<typeof useTranslations<'signIn'>>;

function explain(
  t: Translate,
  failure: ApiFailure,
  formatFailure: ReturnType<typeof useFormatFailure>,
): string {
  if (failure.code === 'no_storage') return t('noStorage');
  if (failure.status === 0) return t('unreachable');
  if (failure.status === 401 || failure.status === 403) return t('wrong');
  if (failure.status === 429) return t('limited', { seconds: failure.retryAfter ?? 60 });
  return t('failed', { reason: formatFailure(failure) });
}

/** Where the link and the token are to be found. */
function SignInHelp() {
  const t = useTranslations('signIn');
  return (
    <section className="space-y-1.5 border-t border-line pt-4 text-muted">
      <h2 className="font-semibold text-fg">{t('helpTitle')}</h2>
      <p>{t('helpLink')}</p>
      <p>{t('helpToken')}</p>
    </section>
  );
}
