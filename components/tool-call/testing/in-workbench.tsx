import { act, fireEvent, render, within } from '@testing-library/react';
import { NextIntlClientProvider } from 'next-intl';
import type { ReactNode } from 'react';
import { catalogue } from '#lib/i18n/catalogue';
import type { Role } from '#lib/protocol/role';
import type { WireMe } from '#lib/protocol/token';
import { WorkbenchContext } from '../../providers/workbench-context.tsx';
import { createWorkbench } from '../../providers/workbench-provider.tsx';

export interface SentRequest {
  readonly path: string;
  readonly body: unknown;
}

export interface Answer {
  readonly status?: number;
  readonly body: unknown;
}

/** A person with a token of their own. */
export const personWith = (role: Role): WireMe => ({
  ...{ kind: 'operator', name: 'olga', role, token_id: 'tok_olga' },
  ...{ tools: null, client_id: null },
});

/** A workbench whose server is the given function; what was sent to it is kept. */
export function createTestWorkbench(
  answer: (request: SentRequest) => Answer | Promise<Answer> = () => ({ body: {} }),
) {
  const sent: SentRequest[] = [];
  const workbench = createWorkbench({
    baseUrl: '',
    fetch: async (input, init) => {
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
      const request = { path: String(input), body };
      sent.push(request);
      const { status = 200, body: responseBody } = await answer(request);
      return new Response(JSON.stringify(responseBody), { status });
    },
  });
  workbench.tab.setState({ status: 'registered' });
  workbench.me.setState({ me: personWith('admin') });
  return { workbench, sent };
}

type Workbench = ReturnType<typeof createTestWorkbench>['workbench'];

export interface InWorkbenchProps {
  workbench: Workbench;
  locale?: 'en' | 'zh';
  children: ReactNode;
}

/** What every page puts around its parts. A missing text is an error here. */
export const InWorkbench = ({ workbench, locale = 'en', children }: InWorkbenchProps) => (
  <NextIntlClientProvider
    locale={locale === 'zh' ? 'zh-CN' : 'en'}
    messages={catalogue[locale]}
    timeZone="UTC"
    onError={(error) => {
      throw error;
    }}
  >
    <WorkbenchContext value={workbench}>{children}</WorkbenchContext>
  </NextIntlClientProvider>
);

export const renderIn = (workbench: Workbench, view: ReactNode, locale: 'en' | 'zh' = 'en') =>
  render(
    <InWorkbench workbench={workbench} locale={locale}>
      {view}
    </InWorkbench>,
  );

export const press = (name: string | RegExp, inside: HTMLElement = document.body) =>
  act(async () => void fireEvent.click(within(inside).getByRole('button', { name })));
