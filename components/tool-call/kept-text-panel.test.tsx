// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import type { Answer } from './testing/in-workbench.tsx';
import { layOut } from './testing/layout.ts';
import { showCard } from './testing/show-card.tsx';

let calls = 0;

function setup(answer?: () => Answer | Promise<Answer>, update: CardUpdate = {}) {
  layOut({ height: 100 });
  calls += 1;
  return showCard(
    {
      ...{ tool_name: 'bank.pay', source: 'client', status: 'WAIT', phase: 'approval' },
      ...{ params: { to: 'Ada' }, ...update },
    },
    { ...(answer && { answer }), id: `tc_kept_${calls}` },
  );
}

const denied: CardUpdate = {
  ...{ status: 'ERROR', error: { code: 'denied', message: 'no', executed: 'no' } },
  approval_decision: { by: 'operator:olga', decision: 'no' },
};
const press = (name: string) => act(async () => void fireEvent.click(screen.getByText(name)));
const field = () => screen.getByRole<HTMLTextAreaElement>('textbox');
const write = (value: string) => fireEvent.change(field(), { target: { value } });
const kept = () => screen.queryByTestId('kept-text');

test('[AP12] a reason that is being written stays with the focus and whose decision it was, until it is closed', async () => {
  const { change, workbench } = setup();
  await press('Deny with a reason…');
  write('since the');
  field().setSelectionRange(9, 9);
  change({
    ...{ status: 'DOING', phase: 'granted' },
    approval_decision: { by: 'operator:otto', decision: 'yes' },
  });
  expect(kept()?.textContent).toContain('operator:otto allowed this before you.');
  expect(workbench.ui.getState().announcement.text).toContain('operator:otto allowed this');
  expect(field().value).toBe('since the');
  expect(document.activeElement).toBe(field());
  write('since the storm');
  expect(field().value).toBe('since the storm');
  fireEvent.keyDown(field(), { key: 'Escape' });
  expect(kept()).toBeNull();
});

test('[AP12] edited arguments stay when another denies the call, and those that were only opened do not', async () => {
  const { change } = setup();
  await press('Edit arguments…');
  write('{"to":"Bob"}');
  change(denied);
  expect(kept()?.textContent).toContain('operator:olga denied this before you.');
  expect(field().value).toBe('{"to":"Bob"}');
  await press('Close');
  expect(kept()).toBeNull();
  cleanup();
  const other = setup();
  await press('Edit arguments…');
  other.change(denied);
  expect(kept()).toBeNull();
});

test('[AP12] an answer that is being written stays', async () => {
  const args = { question: 'Which gate?', input: 'text', choices: [] };
  const { change } = setup(undefined, { params: args, question: 'text' });
  await screen.findByRole('textbox');
  write('the north');
  change({
    ...{ status: 'SUCCESS', result: 'x' },
    approval_decision: { by: 'operator:otto', decision: 'yes' },
  });
  expect(kept()?.textContent).toContain('operator:otto answered this before you.');
  expect(field().value).toBe('the north');
});

test('[AP12] what was sent and taken, or left by the person, is not kept', async () => {
  const { change } = setup();
  await press('Deny with a reason…');
  write('no');
  await press('Back');
  await press('Deny with a reason…');
  write('it is stormy');
  await press('Deny');
  change(denied);
  expect(kept()).toBeNull();
});

test('[AP12] a reason whose decision was refused, since another was first, stays', async () => {
  const error = { code: 'conflict', message: 'operator:olga allowed it before' };
  const { change } = setup(() => ({ status: 409, body: { error } }));
  await press('Deny with a reason…');
  write('it is stormy');
  await press('Deny');
  change({ status: 'DOING', phase: 'granted' });
  expect(field().value).toBe('it is stormy');
});

const gates = (input: string): CardUpdate => ({
  params: {
    question: 'Which gate?',
    input,
    choices: [
      { label: 'The north gate', value: 'n' },
      { label: 'The south gate', value: 's' },
    ],
  },
  question: input,
});
const answered: CardUpdate = {
  ...{ status: 'SUCCESS', result: 'x' },
  approval_decision: { by: 'operator:otto', decision: 'answer' },
};

test.each([
  ['choice', ['The south gate'], 'The south gate'],
  ['multiple', ['The north gate', 'The south gate'], 'The north gate\nThe south gate'],
  ['yes_no', ['No'], 'No'],
])('[AP12] a chosen answer stays, by %s, until it is closed', async (input, chosen, words) => {
  const { change } = setup(undefined, gates(input));
  await screen.findByText('Which gate?');
  for (const label of chosen) await press(label);
  change(answered);
  expect(kept()?.textContent).toContain(
    'operator:otto answered this before you. What you chose was not sent.',
  );
  expect(kept()?.querySelector('p[lang]')?.textContent).toBe(words);
  await press('Close');
  expect(kept()).toBeNull();
});

test('[AP12] what was written is there again on the next page that shows the card, without the focus', async () => {
  const { show } = setup();
  const anew = async () => {
    cleanup();
    await Promise.resolve();
    show();
  };
  await press('Deny with a reason…');
  write('it is');
  await anew();
  expect(field().value).toBe('it is');
  expect(document.activeElement).toBe(document.body);
  fireEvent.keyDown(field(), { key: 'Escape' });
  await press('Edit arguments…');
  write('{"to":"Bob"}');
  await anew();
  expect(field().value).toBe('{"to":"Bob"}');
  await press('Back');
  await anew();
  expect(screen.queryByRole('textbox')).toBeNull();
});

test('[AP12] so is an answer, and arguments that were written in place of others are not', async () => {
  const asked = setup(undefined, gates('choice'));
  await screen.findByText('Which gate?');
  await press('The south gate');
  cleanup();
  asked.show();
  expect(screen.getByRole('radio', { name: 'The south gate' })).toHaveProperty('checked', true);
  cleanup();
  const { change, show } = setup();
  await press('Edit arguments…');
  write('{"to":"Bob"}');
  cleanup();
  change({ params: { to: 'Eve' } });
  show();
  expect(screen.queryByRole('textbox')).toBeNull();
});

test('[AP12] a reason stays in its field with the focus when the question is asked anew', async () => {
  const { change } = setup();
  await press('Deny with a reason…');
  write('it is');
  const before = field();
  change({ clock: { name: 'approval', deadline_at: 99_999 } });
  expect(field()).not.toBe(before);
  expect(field().value).toBe('it is');
  expect(document.activeElement).toBe(field());
});
