// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { Card } from '#lib/protocol/card';
import { CardBody } from './card-body.tsx';
import { cardView } from './card-view.ts';
import { createTestWorkbench, InWorkbench } from './testing/in-workbench.tsx';

afterEach(cleanup);

const unused = () => {
  throw new Error('nothing is pressed here');
};
const actions = {
  cancel: unused,
  retry: unused,
  extend: unused,
  decide: unused,
  answer: unused,
  copy: unused,
  showModelOutput: unused,
  showWhole: unused,
  download: unused,
  blobUrl: (id: string) => id,
};

function shown(more: Partial<Card>, locale: 'en' | 'zh' = 'en'): string {
  const card: Card = { params: { n: 5 }, tool_name: 'pay', status: 'SUCCESS', result: 1, ...more };
  const { workbench } = createTestWorkbench(() => ({ body: {} }));
  const { container } = render(
    <InWorkbench workbench={workbench} locale={locale}>
      <CardBody
        callId="tc_1"
        card={card}
        view={cardView(card)}
        isStale={false}
        isAsked={false}
        actions={actions}
      />
    </InWorkbench>,
  );
  return container.textContent ?? '';
}

test('[CD29] a card names the arguments that were repaired, in both languages', () => {
  const repairs = { paths: ['amount', 'to[0].id'], count: 2 };
  expect(shown({ repairs })).toContain('Corrected to fit the schema: amount, to[0].id');
  cleanup();
  expect(shown({ repairs }, 'zh')).toContain('已按参数结构更正：amount、to[0].id');
  cleanup();
  expect(shown({ repairs: { paths: [''], count: 12 } })).toContain('all arguments and 11 more');
});

test('[CD29] so does the question whether a call may run; one without repairs has no such line', () => {
  const asked: Partial<Card> = { status: 'WAIT', phase: 'approval', result: undefined };
  expect(shown({ ...asked, repairs: { paths: ['n'], count: 1 } })).toContain('schema: n');
  for (const repairs of [undefined, null]) {
    cleanup();
    expect(shown({ repairs })).not.toContain('schema');
  }
});
