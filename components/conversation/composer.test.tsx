// @vitest-environment happy-dom
import { act, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, expect, test } from 'vitest';
import { createTestWorkbench, InWorkbench } from '../tool-call/testing/in-workbench.tsx';
import { Composer, type ComposerProps } from './composer.tsx';

beforeEach(() => sessionStorage.clear());
function setup(given: Partial<ComposerProps> & { answer?: Promise<string | null> } = {}) {
  const sent: string[] = [];
  let stops = 0;
  const { workbench } = createTestWorkbench();
  const { answer = Promise.resolve(given.runId ?? 'run_1'), ...props } = given;
  const all: ComposerProps = {
    runId: null,
    running: false,
    stopping: false,
    pending: false,
    focusRequests: 0,
    onSend: (text) => {
      sent.push(text);
      return answer;
    },
    onStop: () => {
      stops += 1;
    },
    ...props,
  };
  const ui = (more: Partial<ComposerProps> = {}) => (
    <InWorkbench workbench={workbench}>
      <Composer {...all} {...more} />
    </InWorkbench>
  );
  const { rerender } = render(ui());
  const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
  return {
    workbench,
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
  const { sent, field, type } = setup({ answer: Promise.resolve(null) });
  type('Where am I?');
  fireEvent.keyDown(field(), { key: 'Enter' });
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(field().value).toBe('Where am I?');
});

test('what is typed while a message is on its way goes on in the run that has it', async () => {
  const answer = Promise.withResolvers<string>();
  const { field, type, show } = setup({ answer: answer.promise });
  type('Where am I?');
  fireEvent.keyDown(field(), { key: 'Enter' });
  show({ pending: true });
  expect(field().value).toBe('Where am I?');
  type('Where am I? And when');
  answer.resolve('run_2');
  await waitFor(() => expect(field().value).toBe(''));
  show({ runId: 'run_2' });
  expect(field().value).toBe('And when');
  show({ runId: null });
  expect(field().value).toBe('');
});

test('a message that was sent leaves the draft of another conversation as it is', async () => {
  const answer = Promise.withResolvers<string>();
  const { field, type, show } = setup({ runId: 'run_1', answer: answer.promise });
  type('first');
  fireEvent.keyDown(field(), { key: 'Enter' });
  show({ runId: 'run_2' });
  type('second');
  answer.resolve('run_1');
  await waitFor(() => expect(sessionStorage.getItem('callboard:draft:run_1')).toBeNull());
  expect(field().value).toBe('second');
  show({ runId: 'run_1' });
  expect(field().value).toBe('');
});

test('nothing but spaces is not sent', () => {
  const { sent, field, type } = setup();
  type('   ');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(sent).toEqual([]);
});

test('while the agent works Enter sends, and Escape stops', () => {
  const { sent, stops, field, type } = setup({ running: true });
  type('next');
  fireEvent.keyDown(field(), { key: 'Enter' });
  fireEvent.keyDown(field(), { key: 'Escape' });
  expect(sent).toEqual(['next']);
  expect(stops()).toBe(1);
});

test('while the agent is being stopped Enter keeps the text', () => {
  const { sent, field, type } = setup({ running: true, stopping: true });
  type('next');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(sent).toEqual([]);
  expect(field().value).toBe('next');
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

test('while a message waits for this tab the page says so, and more can be typed', () => {
  const { workbench, field, type, show } = setup();
  type('Where am I?');
  show({ pending: true });
  expect(screen.queryByText('Connecting this tab…')).toBeNull();
  act(() => workbench.tab.setState({ waiting: 1 }));
  expect(screen.getByText('Connecting this tab…')).toBeDefined();
  type('Where am I? Now');
  expect(field().value).toBe('Where am I? Now');
});

test('a message that is put back goes behind what was typed, once', () => {
  const { field, type, show } = setup();
  type('First this');
  show({ focusRequests: 1, requestedText: 'In red' });
  expect(field().value).toBe('First this\nIn red');
  show({ focusRequests: 1, requestedText: 'In red', running: true });
  expect(field().value).toBe('First this\nIn red');
});
