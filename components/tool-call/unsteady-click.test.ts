import { expect, test } from 'vitest';
import { isUnsteady, type PlacedControl, type Sight } from './unsteady-click.ts';

const controlAt = (element: object, purpose: string, top: number): PlacedControl => ({
  ...{ element, purpose },
  box: { left: 0, right: 100, top, bottom: top + 30 },
});
const [A, B] = [{}, {}];
const a = (top: number) => controlAt(A, 'tc_a', top);
const b = (top: number) => controlAt(B, 'tc_b', top);

const sight = (at: number, controls: PlacedControl[], more: Partial<Sight> = {}): Sight => ({
  ...{ at, controls, pointer: null, scroll: { top: 0, height: 1_000 } },
  ...more,
});
const POINT = { x: 50, y: 15 };

test('[AP13] a control takes no click for 600 ms where a control of another call was', () => {
  const before = [sight(0, [a(0), b(200)])];
  expect(isUnsteady(before, sight(250, [b(0)]), b(0), POINT)).toBe(true);
  expect(isUnsteady(before, sight(601, [b(0)]), b(0), POINT)).toBe(false);
});

test('[AP13] it takes none when it is new there either', () => {
  expect(isUnsteady([sight(0, [a(0)])], sight(300, [b(0), a(200)]), b(0), POINT)).toBe(true);
});

test('[AP13] what is new where no control was takes a click at once, and so does what stays', () => {
  expect(isUnsteady([sight(0, [a(200)])], sight(10, [b(0), a(200)]), b(0), POINT)).toBe(false);
  expect(isUnsteady([sight(0, [b(0)])], sight(10, [b(0)]), b(0), POINT)).toBe(false);
});

test('[AP13] a control that came under a pointer that rests takes no click, under one that came to it it does', () => {
  const moved = (pointer: Sight['pointer']) =>
    isUnsteady([sight(0, [b(200)], { pointer })], sight(100, [b(0)]), b(0), POINT);
  expect(moved({ x: 51, y: 16 })).toBe(true);
  expect(moved({ x: 51, y: 216 })).toBe(false);
  expect(moved(null)).toBe(false);
});

test('[AP13] what a person scrolled there takes clicks at once, unless the list changed as well', () => {
  const before = [sight(0, [a(0), b(200)])];
  const scrolled = (height: number) =>
    isUnsteady(before, sight(100, [a(-200), b(0)], { scroll: { top: 200, height } }), b(0), POINT);
  expect(scrolled(1_000)).toBe(false);
  expect(scrolled(900)).toBe(true);
});
