'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { SignInForm } from './sign-in-form.tsx';
import { SignInFrame } from './sign-in-frame.tsx';
import { type SignInWith, signInWith } from './sign-in-with.ts';

export interface SignInLinkProps {
  /** Of a one-time link: the part after `/sign-in/`. */
  code: string;
  signIn?: SignInWith;
  go?: (path: string) => void;
}

/**
 * Signs in by a one-time link, or asks for the token. The page sends the code,
 * not the request for the page: then no other site can try codes by a picture's
 * address, and no preview uses one up.
 */
export function SignInLink(props: SignInLinkProps) {
  // Without the link in the history, where it would lead to a used one.
  const { code, signIn = signInWith, go = (path) => location.replace(path) } = props;
  const t = useTranslations('signIn');
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    void signIn({ code }).then((answer) => (answer.ok ? go('/') : setFailure(answer)));
  }, [code, signIn, go]);
  if (failure) {
    const isUsed = failure.status === 401;
    const form = { reason: isUsed ? 'linkUsed' : null, failure: isUsed ? null : failure } as const;
    return <SignInForm {...form} next="/" />;
  }
  return (
    <SignInFrame>
      <p role="status">{t('submitting')}</p>
    </SignInFrame>
  );
}
