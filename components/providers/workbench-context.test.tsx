// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { createTestWorkbench, InWorkbench } from '../tool-call/testing/in-workbench.tsx';
import { useCall, useMessages, useRun } from './workbench-context.tsx';

afterEach(cleanup);

function Known({ id }: { id: string }) {
  const known = [useRun(id), useCall(id), ...useMessages(id)];
  return <p>{known.every((one) => one === undefined) ? 'nothing' : 'something'}</p>;
}

test.each(['toString', 'constructor', '__proto__'])(
  '[RV2] an address that names %s finds no run and no call of that name',
  (id) => {
    const { workbench } = createTestWorkbench(() => ({ body: {} }));
    render(
      <InWorkbench workbench={workbench}>
        <Known id={id} />
      </InWorkbench>,
    );
    expect(screen.getByText('nothing')).toBeDefined();
  },
);
