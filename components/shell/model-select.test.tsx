// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Role } from '#lib/protocol/role';
import { createTestWorkbench, personWith, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { ModelSelect } from './model-select.tsx';

const model = (provider: string, label: string) => ({
  ...{ model: `${provider}:${label}`, label, provider },
  ...{ rehearsal: false, images: false, default: false },
});

const MODELS = [model('openai-chat', 'boss'), model('compatible', 'boss'), model('x', 'other')];

function show(role: Role, { models = MODELS, locale = 'en' as 'en' | 'zh' } = {}): string[] {
  const { workbench } = createTestWorkbench();
  workbench.me.setState({ me: personWith(role) });
  workbench.models.setState({ models });
  renderIn(workbench, <ModelSelect />, locale);
  return screen.queryAllByRole('option').map(({ textContent }) => textContent ?? '');
}

test('models whose names are the same are shown with their providers', () => {
  expect(show('operator')).toEqual(['boss · openai-chat', 'boss · compatible', 'other']);
});

test('a viewer, who sends no messages, has no menu of models', () => {
  expect(show('viewer')).toEqual([]);
});

test('how models are asked is said once, and the button tells that it was', async () => {
  const { workbench } = createTestWorkbench();
  workbench.models.setState({ models: MODELS });
  renderIn(workbench, <ModelSelect />);
  fireEvent.click(screen.getByRole('button', { name: 'Model settings' }));
  const type = (label: string, value: string) =>
    fireEvent.change(screen.getByLabelText(label), { target: { value } });
  await screen.findByRole('dialog', { name: 'Model settings' });
  type('Instructions', ' Be brief. ');
  type('Reasoning effort', 'high');
  fireEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(screen.queryByRole('dialog')).toBeNull();
  screen.getByRole('button', { name: 'Model settings (changed)' });
  const { settings } = workbench.models.getState();
  expect(settings).toEqual({
    ...{ instructions: 'Be brief.', temperature: null, reasoning_effort: 'high' },
  });
});
