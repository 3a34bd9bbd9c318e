// @vitest-environment happy-dom
import { fireEvent } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { guardClicks } from './guard-clicks.ts';

let stop: () => void = () => undefined;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  stop();
  document.body.innerHTML = '';
});

/** A list of cards with one button each, 100 px high, where happy-dom lays nothing out. */
function setup() {
  const list = document.createElement('div');
  document.body.append(list);
  const refused = vi.fn();
  const clicked: string[] = [];
  const holds: boolean[] = [];
  const place = (element: Element) => {
    const card = element.closest('[data-call-id]');
    const top = card ? [...list.children].indexOf(card) * 100 : 0;
    const height = card ? 100 : 1_000;
    return new DOMRect(0, top, 100, height);
  };
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(function (this: Element) {
    return place(this);
  });
  const card = (id: string) => {
    const one = document.createElement('article');
    one.dataset.callId = id;
    one.innerHTML = '<div data-decision=""><button data-decides="">Allow</button></div>';
    one.addEventListener('click', () => clicked.push(id));
    return one;
  };
  stop = guardClicks(list, { onRefused: refused, onHold: (held) => holds.push(held) });
  return { list, refused, clicked, holds, card };
}

const buttonIn = (card: HTMLElement): HTMLElement => card.querySelector('button') ?? card;
const at = { clientX: 50, pointerType: 'mouse' };

function press(card: HTMLElement, clientY: number): void {
  fireEvent.pointerDown(buttonIn(card), { ...at, clientY });
  fireEvent.click(buttonIn(card), { ...at, clientY, detail: 1 });
}

test('[AP13] a click on a card that has just taken the place of another decides nothing, and a message reports it', () => {
  const { list, refused, clicked, card } = setup();
  const [a, b] = [card('a'), card('b')];
  list.append(a, b);
  vi.advanceTimersByTime(1_000);
  press(a, 50);
  a.remove();
  vi.advanceTimersByTime(150);
  press(b, 50);
  expect(clicked).toEqual(['a']);
  expect(refused).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(700);
  press(b, 50);
  expect(clicked).toEqual(['a', 'b']);
});

test('[AP13] a card that came on top takes no click that was aimed at the one below', () => {
  const { list, refused, clicked, card } = setup();
  const [a, b] = [card('a'), card('b')];
  list.append(a);
  vi.advanceTimersByTime(1_000);
  list.prepend(b);
  vi.advanceTimersByTime(300);
  press(b, 50);
  expect(clicked).toEqual([]);
  expect(refused).toHaveBeenCalledOnce();
});

test('[AP13] cancel takes no click where the decision on the same call just was', () => {
  const { list, refused, clicked, card } = setup();
  const a = card('a');
  list.append(a);
  vi.advanceTimersByTime(1_000);
  press(a, 50);
  a.innerHTML = '<button data-decides="" data-action="cancel">Cancel</button>';
  vi.advanceTimersByTime(150);
  press(a, 50);
  expect(clicked).toEqual(['a']);
  expect(refused).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(700);
  press(a, 50);
  expect(clicked).toEqual(['a', 'a']);
});

test('[AP13] a click that was pressed on another call decides nothing; one by the keyboard does', () => {
  const { list, clicked, card } = setup();
  const [a, b] = [card('a'), card('b')];
  list.append(a, b);
  vi.advanceTimersByTime(1_000);
  fireEvent.pointerDown(buttonIn(a), { ...at, clientY: 50 });
  fireEvent.click(buttonIn(b), { ...at, clientY: 150, detail: 1 });
  expect(clicked).toEqual([]);
  fireEvent.click(buttonIn(b), { detail: 0 });
  expect(clicked).toEqual(['b']);
});

test('[AP14] the list is held while the pointer or the focus is over a decision, and a moment longer', () => {
  const { list, holds, card } = setup();
  const a = card('a');
  list.append(a);
  fireEvent.pointerMove(document, { ...at, clientY: 50 });
  vi.advanceTimersByTime(100);
  expect(holds).toEqual([true]);
  fireEvent.pointerMove(document, { ...at, clientY: 550 });
  vi.advanceTimersByTime(500);
  expect(holds).toEqual([true]);
  vi.advanceTimersByTime(300);
  expect(holds).toEqual([true, false]);
  buttonIn(a).focus();
  expect(holds).toEqual([true, false, true]);
});

test('[AP14] the list is held as soon as the pointer is over a decision, before it moves there', () => {
  const { list, holds, card } = setup();
  const a = card('a');
  list.append(a);
  fireEvent.pointerOver(buttonIn(a), { ...at, clientY: 50 });
  expect(holds).toEqual([true]);
});
