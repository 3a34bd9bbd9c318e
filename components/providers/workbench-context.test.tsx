// @vitest-environment happy-dom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { useCall, useMessages, useRun } from './workbench-context.tsx';

function Known({ id }: { id: string }) {
  const known = [useRun(id), useCall(id), ...useMessages(id)];
  return <p>{known.every((one) => one === undefined) ? 'nothing' : 'something'}</p>;
}

test.each(['toString', 'constructor', '__proto__'])(
  '[RV2] an address that names %s finds no run and no call of that name',
  (id) => {
    const { workbench } = createTestWorkbench();
    renderIn(workbench, <Known id={id} />);
    expect(screen.getByText('nothing')).toBeDefined();
  },
);
