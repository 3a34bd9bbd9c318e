import { useTranslations } from 'next-intl';

/** Where the link and the token are to be found. */
export function SignInHelp() {
  const t = useTranslations('signIn');
  return (
    <section className="space-y-1.5 border-t border-line pt-4 text-muted">
      <h2 className="font-semibold text-fg">{t('helpTitle')}</h2>
      <p>{t('helpLink')}</p>
      <p>{t('helpToken')}</p>
    </section>
  );
}
