import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { Logo } from '../shell/logo.tsx';

/** What the pages of those have in common who are not signed in. */
export const SignInFrame = ({ children }: { children: ReactNode }) => (
  <main
    id="content"
    className="mx-auto flex min-h-dvh w-full max-w-sm flex-col safe-area justify-center gap-5 [--edge:1rem]"
  >
    <SignInHeading />
    {children}
  </main>
);

function SignInHeading() {
  const t = useTranslations('signIn');
  return (
    <div className="space-y-2">
      <h1 className="flex items-center gap-2.5 text-xl font-bold">
        <Logo />
        {t('title')}
      </h1>
      <p className="text-muted">{t('text')}</p>
    </div>
  );
}
