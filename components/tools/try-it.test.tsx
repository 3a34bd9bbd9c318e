// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { tool } from '#lib/stores/testing/fixtures';
import {
  type Answer,
  createTestWorkbench,
  press,
  renderIn,
} from '../tool-call/testing/in-workbench.tsx';
import { TryIt } from './try-it.tsx';

const toolOf = (schema: Record<string, unknown>, more: Partial<ToolListing> = {}): ToolListing =>
  tool('weather.query', { schema: { type: 'object', ...schema }, ...more });

const weather = toolOf({
  required: ['city'],
  properties: {
    city: { type: 'string', description: 'Where' },
    days: { type: 'integer', maximum: 7, default: 2 },
    detailed: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    filter: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
});

const accepted: Answer = { status: 202, body: { tool_call_id: 'tc_1', status: 'pending' } };

async function setup(tool: ToolListing, answer: Answer = accepted) {
  const { workbench, sent } = createTestWorkbench(() => answer);
  await act(async () => void renderIn(workbench, <TryIt tool={tool} />));
  return { workbench, sent };
}

const field = (name: string) => screen.findByLabelText(new RegExp(`^${name}`));
const fill = async (name: string, value: string) =>
  fireEvent.change(await field(name), { target: { value } });
const json = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Arguments as JSON' });

test('the form and the JSON are two views of one value', async () => {
  await setup(weather);
  await fill('city', 'Bern');
  await fill('filter', '{"deep": [1]}');
  await press('JSON');
  expect(JSON.parse(json().value)).toEqual({ city: 'Bern', days: 2, filter: { deep: [1] } });
  fireEvent.change(json(), { target: { value: '{"city": "Basel", "extra": true}' } });
  await press('Form');
  expect(await field('city')).toHaveProperty('value', 'Basel');
  await press('JSON');
  expect(JSON.parse(json().value)).toEqual({ city: 'Basel', extra: true });
});

test('what was emptied is not sent, and "no" is not "not given"', async () => {
  await setup(weather);
  await fill('days', '');
  await fill('city', 'Bern');
  await press('JSON');
  expect(JSON.parse(json().value)).toEqual({ city: 'Bern' });
});

test('Run sends the arguments under a run of the day and shows the live card', async () => {
  const { sent, workbench } = await setup(weather);
  await fill('city', 'Bern');
  await press('Run');
  expect(sent).toHaveLength(1);
  expect(sent[0]?.path).toBe('/v1/tools/weather.query/invoke');
  expect(sent[0]?.body).toMatchObject({ args: { city: 'Bern', days: 2 } });
  expect(sent[0]?.body).toHaveProperty(
    'run_id',
    expect.stringMatching(/^run_manual_\d{4}-\d\d-\d\d_\w+$/),
  );
  expect(screen.getByText('Sent. Waiting for its card…')).toBeDefined();
  act(() =>
    workbench.calls.getState().apply([
      {
        type: 'call',
        seq: 1,
        tool_call_id: 'tc_1',
        run_id: 'run_manual',
        update: { tool_name: 'weather.query', status: 'SUCCESS', params: {}, result: 0 },
      },
    ]),
  );
  expect(screen.getByTestId('tool-card').dataset).toMatchObject({ status: 'SUCCESS' });
});

test('a double click on Run is one call, also where the answer came between its clicks', async () => {
  const { sent } = await setup(weather);
  await fill('city', 'Bern');
  await press('Run');
  await act(async () =>
    fireEvent.click(screen.getByRole('button', { name: 'Run' }), { detail: 2 }),
  );
  expect(sent).toHaveLength(1);
  await press('Run');
  expect(sent).toHaveLength(2);
});

test('arguments that do not fit are marked at their field and not sent', async () => {
  const { sent } = await setup(weather);
  await fill('days', '9');
  await press('Run');
  expect(sent).toEqual([]);
  expect(screen.getByText('Some arguments do not fit yet.')).toBeDefined();
  const problems = [...document.querySelectorAll('[id$="__error"]')].map((one) => one.id);
  expect(problems).toEqual(
    expect.arrayContaining(['argument_city__error', 'argument_days__error']),
  );
});

test('text that is not JSON is never sent as what it was before', async () => {
  const { sent } = await setup(weather);
  await fill('city', 'Bern');
  await fill('filter', '{oops');
  await press('Run');
  expect(sent).toEqual([]);
  expect(screen.getByRole('button', { name: 'JSON' })).toHaveProperty('disabled', true);
  await fill('filter', '3');
  await press('Run');
  expect(sent[0]?.body).toMatchObject({ args: { filter: 3 } });
});

test('a schema that no form can show faithfully is edited as JSON, and it shows why', async () => {
  await setup(toolOf({ properties: { a: {} }, oneOf: [{}] }));
  expect(screen.getByText(/without misreporting what is sent: oneOf/)).toBeDefined();
  expect(json().value).toBe('{}');
  expect(screen.queryByRole('button', { name: 'Form' })).toBeNull();
});

test('one of several clients can be chosen', async () => {
  const clients = [
    { client_id: 'cl_1', name: 'Phone', visible: true },
    { client_id: 'cl_2', name: 'Laptop', visible: false },
  ];
  const { sent } = await setup(toolOf({ properties: {} }, { source: 'client', clients }));
  fireEvent.change(screen.getByRole('combobox', { name: 'Client to ask' }), {
    target: { value: 'cl_2' },
  });
  await press('Run');
  expect(sent[0]?.body).toMatchObject({ args: {}, client: 'cl_2' });
});

test('the server’s refusal is shown with its details', async () => {
  const error = {
    code: 'invalid_args',
    message: 'The arguments do not fit.',
    details: [{ path: 'city', problem: 'is unknown' }],
  };
  await setup(toolOf({ properties: {} }), { status: 422, body: { error } });
  await press('Run');
  expect(screen.getByRole('alert').textContent).toContain('The arguments do not fit.');
  expect(screen.getByRole('alert').textContent).toContain('city: is unknown');
});
