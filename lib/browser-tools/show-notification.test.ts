import { expect, test, vi } from 'vitest';
import { createShowNotification } from './create-browser-env.ts';

function setUp(active: unknown, isRegistered = true) {
  const showNotification = vi.fn(async () => {});
  const registration = async () => (isRegistered ? { active, showNotification } : undefined);
  const construct = vi.fn();
  return { show: createShowNotification({ registration, construct }), showNotification, construct };
}

test('[BT71] where a service worker runs it shows the notification: the constructor of Android throws', async () => {
  const { show, showNotification, construct } = setUp({});
  construct.mockImplementation(() => {
    throw new TypeError('Illegal constructor');
  });
  await show('Tide', 'high');
  expect(showNotification).toHaveBeenCalledExactlyOnceWith('Tide', { body: 'high' });
  expect(construct).not.toHaveBeenCalled();
});

test.each([
  ['without a registration', setUp({}, false)],
  ['before the worker runs', setUp(null)],
])('[BT71] %s the page shows it itself', async (_when, { show, showNotification, construct }) => {
  await show('Tide', undefined);
  expect(construct).toHaveBeenCalledExactlyOnceWith('Tide', {});
  expect(showNotification).not.toHaveBeenCalled();
});
