// @vitest-environment happy-dom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { ModelListing } from '#lib/protocol/run';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { RehearsalNotice } from './conversation.tsx';

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
  const { workbench } = createTestWorkbench();
  workbench.models.getState().load(models, 'rehearsal');
  renderIn(workbench, <RehearsalNotice />);
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
