import {
  isUnsteady,
  type PlacedControl,
  type Point,
  type Sight,
  STILL_MS,
} from './unsteady-click.ts';

/** In ms between looks at where the controls are. */
const LOOK_MS = 100;

/** Allow, deny, always, an answer, cancel, retry. */
const CONTROL = '[data-decides]';
/** A decision, and a text that was kept of one. */
const DECISION = '[data-decision], [data-kept]';
/** Under the pointer also a card that stays only because it is held. */
const HOLDS = `${DECISION}, [data-left]`;

export interface ClickGuardDeps {
  readonly onRefused: () => void;
  /** Called at each change of whether the list is to hold still. */
  readonly onHold: (isHeld: boolean) => void;
}

/** Looks at the controls in `list`, and stops clicks on those that have just come to where they are. */
export function guardClicks(list: HTMLElement, { onRefused, onHold }: ClickGuardDeps): () => void {
  const scroller = scrollerOf(list);
  let sights: Sight[] = [];
  let pointer: Point | null = null;
  let pressed: { purpose: string; isRefused: boolean } | null = null;
  let isHeld = false;
  let heldAt = Number.NEGATIVE_INFINITY;

  const look = (): Sight => {
    const at = performance.now();
    const controls = [...list.querySelectorAll(CONTROL)].map(placeOf);
    const scroll = { top: scroller.scrollTop, height: scroller.scrollHeight };
    const now = { at, pointer, controls, scroll };
    sights = [...sights.filter((sight) => at - sight.at <= STILL_MS), now];
    if (isOverDecision(list, pointer)) heldAt = at;
    // What was decided under the pointer goes only after a moment in which it could be pressed.
    const holds = at - heldAt <= STILL_MS;
    if (holds !== isHeld) onHold(holds);
    isHeld = holds;
    return now;
  };
  const onMove = (event: PointerEvent) => {
    pointer = event.pointerType === 'touch' ? null : { x: event.clientX, y: event.clientY };
  };
  const onDown = (event: PointerEvent) => {
    const control = controlOf(event.target);
    const before = sights;
    onMove(event);
    const now = look();
    const point = { x: event.clientX, y: event.clientY };
    const isRefused = control !== null && isUnsteady(before, now, placeOf(control), point);
    pressed = { purpose: purposeOf(control), isRefused };
  };
  const onClick = (event: MouseEvent) => {
    const control = controlOf(event.target);
    // A key press, or a click by a program, has no place that it could have missed.
    if (!control || !pressed || event.detail === 0) return;
    if (!pressed.isRefused && pressed.purpose === purposeOf(control)) return;
    event.preventDefault();
    event.stopPropagation();
    onRefused();
  };
  // It comes before the move that it belongs to.
  const onOver = (event: PointerEvent) => {
    onMove(event);
    look();
  };
  const onLeave = () => {
    pointer = null;
  };
  const timer = setInterval(look, LOOK_MS);
  list.addEventListener('pointerdown', onDown, true);
  list.addEventListener('click', onClick, true);
  list.addEventListener('pointerover', onOver);
  list.addEventListener('focusin', look);
  document.addEventListener('pointermove', onMove, { passive: true });
  document.documentElement.addEventListener('pointerleave', onLeave);
  return () => {
    clearInterval(timer);
    list.removeEventListener('pointerdown', onDown, true);
    list.removeEventListener('click', onClick, true);
    list.removeEventListener('pointerover', onOver);
    list.removeEventListener('focusin', look);
    document.removeEventListener('pointermove', onMove);
    document.documentElement.removeEventListener('pointerleave', onLeave);
  };
}

function scrollerOf(list: HTMLElement): HTMLElement {
  for (let at: HTMLElement | null = list; at; at = at.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  }
  return document.documentElement;
}

const controlOf = (target: EventTarget | null): Element | null =>
  target instanceof Element ? target.closest(CONTROL) : null;

/** Cancel and retry are not what decides on a call, though they come to where that was. */
function purposeOf(control: Element | null): string {
  const callId = control?.closest<HTMLElement>('[data-call-id]')?.dataset.callId ?? '';
  return control?.matches('[data-action]') ? `${callId} act` : callId;
}

const placeOf = (element: Element): PlacedControl => ({
  element,
  purpose: purposeOf(element),
  box: element.getBoundingClientRect(),
});

function isOverDecision(list: HTMLElement, pointer: Point | null): boolean {
  const focused = document.activeElement?.closest(DECISION);
  if (focused && list.contains(focused)) return true;
  if (!pointer || !has(list, pointer)) return false;
  return [...list.querySelectorAll(HOLDS)].some((one) => has(one, pointer));
}

function has(element: Element, { x, y }: Point): boolean {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  return x >= left && x <= right && y >= top && y <= bottom;
}
