// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { NextIntlClientProvider } from 'next-intl';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { catalogue } from '#lib/i18n/catalogue';
import { Composer, type ComposerProps } from './composer.tsx';

beforeEach(() => sessionStorage.clear());
afterEach(cleanup);

function setup(given: Partial<ComposerProps> & { answer?: boolean } = {}) {
  const sent: string[] = [];
  let stops = 0;
  const { answer = true, ...props } = given;
  const all: ComposerProps = {
    runId: null,
    running: false,
    stopping: false,
    pending: false,
    focusRequests: 0,
    onSend: async (text) => {
      sent.push(text);
      return answer;
    },
    onStop: () => {
      stops += 1;
    },
    ...props,
  };
  const ui = (more: Partial<ComposerProps> = {}) => (
    <NextIntlClientProvider locale="en" messages={catalogue.en}>
      <Composer {...all} {...more} />
    </NextIntlClientProvider>
  );
  const { rerender } = render(ui());
  const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
  return {
    sent,
    stops: () => stops,
    field,
    type: (value: string) => fireEvent.change(field(), { target: { value } }),
    show: (more: Partial<ComposerProps>) => rerender(ui(more)),
  };
}

test('Enter sends what was typed and empties the field', async () => {
  const { sent, field, type } = setup();
  type('  Where am I?  ');
  fireEvent.keyDown(field(), { key: 'Enter' });
  await waitFor(() => expect(field().value).toBe(''));
  expect(sent).toEqual(['Where am I?']);
});

test('Shift and Enter makes a new line', () => {
  const { sent, field, type } = setup();
  type('one');
  expect(fireEvent.keyDown(field(), { key: 'Enter', shiftKey: true })).toBe(true);
  expect(sent).toEqual([]);
});

test('the Enter that ends a composition of an input method sends nothing', () => {
  const { sent, field, type } = setup();
  type('ni hao');
  fireEvent.keyDown(field(), { key: 'Enter', isComposing: true });
  fireEvent.keyDown(field(), { key: 'Enter', keyCode: 229 });
  expect(sent).toEqual([]);
});

test('what could not be sent stays', async () => {
  const { sent, field, type } = setup({ answer: false });
  type('Where am I?');
  fireEvent.keyDown(field(), { key: 'Enter' });
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(field().value).toBe('Where am I?');
});

test('nothing but spaces is not sent', () => {
  const { sent, field, type } = setup();
  type('   ');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(sent).toEqual([]);
});

test('while the agent works Enter keeps the text and Escape stops', () => {
  const { sent, stops, field, type } = setup({ running: true });
  type('next');
  fireEvent.keyDown(field(), { key: 'Enter' });
  fireEvent.keyDown(field(), { key: 'Escape' });
  expect(sent).toEqual([]);
  expect(field().value).toBe('next');
  expect(stops()).toBe(1);
});

test('each conversation keeps its own draft', () => {
  const { field, type, show } = setup({ runId: 'run_1' });
  type('for one');
  show({ runId: 'run_2' });
  expect(field().value).toBe('');
  type('for two');
  show({ runId: 'run_1' });
  expect(field().value).toBe('for one');
});

test('what cannot be sent now stays, and Send says why', () => {
  const { sent, field, type, show } = setup({ blocked: 'The disk is full.' });
  type('kept');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(sent).toEqual([]);
  expect(field().value).toBe('kept');
  const button = screen.getByRole<HTMLButtonElement>('button', {
    name: 'Send',
    description: 'The disk is full.',
  });
  expect(button.disabled).toBe(true);
  show({ blocked: undefined });
  expect(button.disabled).toBe(false);
});
