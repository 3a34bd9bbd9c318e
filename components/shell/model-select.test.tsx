// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { Role } from '#lib/protocol/role';
import {
  createTestWorkbench,
  InWorkbench,
  personWith,
} from '../tool-call/testing/in-workbench.tsx';
import { ModelSelect } from './model-select.tsx';

afterEach(cleanup);

const model = (provider: string, label: string) => ({
  ...{ model: `${provider}:${label}`, label, provider },
  ...{ rehearsal: false, images: false, default: false },
});

function show(role: Role): string[] {
  const { workbench } = createTestWorkbench(() => ({ body: {} }));
  workbench.me.setState({ me: personWith(role) });
  const models = [model('openai-chat', 'boss'), model('compatible', 'boss'), model('x', 'other')];
  workbench.models.setState({ models });
  render(
    <InWorkbench workbench={workbench}>
      <ModelSelect />
    </InWorkbench>,
  );
  return screen.queryAllByRole('option').map(({ textContent }) => textContent ?? '');
}

test('models whose names are the same are shown with their providers', () => {
  expect(show('operator')).toEqual(['boss · openai-chat', 'boss · compatible', 'other']);
});

test('a viewer, who sends no messages, has no menu of models', () => {
  expect(show('viewer')).toEqual([]);
});
