import type { Metadata, Viewport } from 'next';
import { cookies, headers } from 'next/headers';
import { connection } from 'next/server';
import { NextIntlClientProvider } from 'next-intl';
import { getLocale } from 'next-intl/server';
import type { ReactNode } from 'react';
import { AppFrame } from '#components/shell/app-frame';
import { THEME_COOKIE, toTheme } from '#lib/i18n/locales';
import { oldBrowserCheck } from '#lib/i18n/oldest-browsers';
import './globals.css';

export const metadata: Metadata = {
  title: { default: 'Callboard', template: '%s · Callboard' },
  description: 'A workbench for agents that use tools.',
};

export const viewport: Viewport = { width: 'device-width', initialScale: 1, viewportFit: 'cover' };

/** Theme and language come by cookie, so that the first paint has them and needs no script. */
export default async function RootLayout({ children }: { children: ReactNode }) {
  // Every page is drawn per request: each needs the nonce of its own answer.
  await connection();
  const theme = toTheme((await cookies()).get(THEME_COOKIE)?.value);
  const locale = await getLocale();
  const policy = (await headers()).get('content-security-policy') ?? '';
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
  return (
    <html lang={locale} data-theme={theme}>
      <body>
        <script nonce={nonce}>{oldBrowserCheck(locale.startsWith('zh') ? 'zh' : 'en')}</script>
        <NextIntlClientProvider>
          <AppFrame theme={theme}>{children}</AppFrame>
        </NextIntlClientProvider>
      </body>
    </html>
  );
}
