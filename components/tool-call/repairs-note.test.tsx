// @vitest-environment happy-dom
import { cleanup } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Card } from '#lib/protocol/card';
import { CardBody } from './card-body.tsx';
import { cardView } from './card-view.ts';
import { createTestWorkbench, renderIn } from './testing/in-workbench.tsx';

const unused = () => {
  throw new Error('nothing is pressed here');
};
const actions = {
  cancel: unused,
  retry: unused,
  extend: unused,
  showClients: unused,
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
  const { workbench } = createTestWorkbench();
  const { container } = renderIn(
    workbench,
    <CardBody
      callId="tc_1"
      card={card}
      view={cardView(card)}
      isStale={false}
      isAsked={false}
      actions={actions}
    />,
    locale,
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

const operands = {
  first: [{ name: 'run.mjs', hash: '0123456789ab' }, { name: 'disk.img' }],
  count: 2,
};

test.each([
  ['en', 'present content of: run.mjs (SHA-256 0123456789ab…), disk.img'],
  ['zh', '当前内容：run.mjs（SHA-256 0123456789ab…）、disk.img'],
] as const)('[CD40] the question names the files that a yes is for (%s)', (locale, text) => {
  const asked: Partial<Card> = { status: 'WAIT', phase: 'approval', result: undefined };
  expect(shown({ ...asked, approval_operands: operands }, locale)).toContain(text);
  cleanup();
  expect(shown({ ...asked, approval_operands: { ...operands, count: 12 } })).toContain('10 more');
  cleanup();
  expect(shown({ ...asked, approval_operands: null })).not.toContain('present content');
  cleanup();
  expect(shown({ approval_operands: operands })).not.toContain('present content');
});

test('[CD40] a call that was refused because a file changed names the file', () => {
  const error = { code: 'denied', message: 'English', executed: 'no' } as const;
  const changed = { ...error, reason: 'content_changed', params: { name: 'run.mjs' } };
  const text = shown({ status: 'ERROR', result: undefined, error: changed }, 'zh');
  expect(text).toContain('询问之后 run.mjs 有变化');
  expect(text).not.toContain('English');
});

test('[CD51] a person who is asked reads that the arguments were not checked whole', () => {
  const asked = { status: 'WAIT', phase: 'approval' } as const;
  const note = 'Not all arguments were checked';
  expect(shown({ ...asked, args_unchecked: true })).toContain(note);
  cleanup();
  expect(shown({ ...asked, args_unchecked: true }, 'zh')).toContain('这些参数未经完整检查');
  cleanup();
  expect(shown(asked)).not.toContain(note);
});
