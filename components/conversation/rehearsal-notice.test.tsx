// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { ModelListing } from '#lib/protocol/run';
import { createTestWorkbench, InWorkbench } from '../tool-call/testing/in-workbench.tsx';
import { RehearsalNotice } from './conversation.tsx';

afterEach(cleanup);

const listing = (model: string, rehearsal: boolean): ModelListing => ({
  model,
  label: model,
  provider: 'x',
  rehearsal,
  images: false,
  default: false,
});
const rehearsal = listing('rehearsal', true);

function show(models: ModelListing[]) {
  const { workbench } = createTestWorkbench(() => ({ body: {} }));
  workbench.models.getState().load(models, 'rehearsal');
  render(
    <InWorkbench workbench={workbench}>
      <RehearsalNotice />
    </InWorkbench>,
  );
  return screen.getByRole('group').textContent ?? '';
}

test('the rehearsal says what to set when there is no other model', () => {
  expect(show([rehearsal])).toContain('OPENAI_API_KEY');
});

test('it does not ask to set what is set, but to choose', () => {
  const text = show([listing('compatible', false), rehearsal]);
  expect(text).not.toContain('OPENAI');
  expect(text).toContain('choose');
});
