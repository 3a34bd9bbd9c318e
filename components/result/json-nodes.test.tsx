// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { JsonNodes } from './json-nodes.tsx';

function show(value: object, isOpen = true): HTMLElement {
  const { workbench } = createTestWorkbench();
  renderIn(workbench, <JsonNodes value={value} label="Result" isOpen={isOpen} />);
  return screen.getByRole('tree', { name: /^Result/ });
}

const focused = () => document.activeElement;
const press = (key: string) => fireEvent.keyDown(focused() ?? document.body, { key });

test('two keys that differ in a hidden character are two, and the mark has a name', () => {
  const tree = show({ 'amount⟨U+200B⟩': 1, 'amount\u200b': 2 });
  expect(tree.textContent).toBe('{amount⟨U+200B⟩:1,amount⟨U+200B⟩:2}');
  expect(screen.getAllByRole('img', { name: 'Hidden character U+200B' })).toHaveLength(1);
});

test('the arrow keys walk the tree, open and close it, and Tab comes back to where one was', () => {
  const tree = show({ a: { b: 1 }, c: 2 }, false);
  const [root = tree, a = tree] = screen.getAllByRole('treeitem');
  root.focus();
  press('ArrowDown');
  expect(focused()).toBe(a);
  expect(a.getAttribute('aria-expanded')).toBe('false');
  press('ArrowRight');
  expect(tree.textContent).toContain('b:1');
  press('ArrowRight');
  expect(focused()?.textContent).toBe('b:1');
  expect([root.tabIndex, a.tabIndex]).toEqual([-1, -1]);
  press('ArrowLeft');
  expect(focused()).toBe(a);
  press('ArrowLeft');
  expect(tree.textContent).not.toContain('b:1');
  press('End');
  expect(focused()?.textContent).toBe('c:2');
  press('Home');
  expect(focused()).toBe(root);
  press('Enter');
  expect(tree.textContent).toBe('{…}');
  expect(root.tabIndex).toBe(0);
});
