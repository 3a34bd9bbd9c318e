/** In ms: so long a control is where it is before it takes a click from where another was (AP13). */
export const STILL_MS = 600;
/** A hand that rests moves the pointer by so many pixels. */
const REST_PX = 4;
/** What rounding of layout and zoom comes to. */
const ROUND_PX = 1;

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A control that decides on a call, where it is on the screen. */
export interface PlacedControl {
  readonly element: object;
  /** Its call, and whether it decides on it or acts on it later. */
  readonly purpose: string;
  readonly box: {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
  };
}

/** What a person could see at a moment. */
export interface Sight {
  /** In ms, of one clock. */
  readonly at: number;
  /** Null where there is none, as on a touch screen. */
  readonly pointer: Point | null;
  readonly controls: readonly PlacedControl[];
  readonly scroll: { readonly top: number; readonly height: number };
}

/**
 * Whether a click at `point` may be meant for something else: within the last moment a control for
 * something else was there, or this one came there under a pointer that rested. What a person has
 * scrolled there is where it was among the others, and takes clicks at once.
 */
export function isUnsteady(
  before: readonly Sight[],
  now: Sight,
  target: PlacedControl,
  point: Point,
): boolean {
  return before.some((sight) => {
    if (now.at - sight.at > STILL_MS) return false;
    const was = sight.controls.find(({ element }) => element === target.element);
    if (was && isOnlyScrolled(sight, was, now, target)) return false;
    if (sight.controls.some((one) => one.purpose !== target.purpose && isIn(one, point)))
      return true;
    return was !== undefined && !isIn(was, point) && isNear(sight.pointer, point);
  });
}

function isOnlyScrolled(
  sight: Sight,
  { box: was }: PlacedControl,
  now: Sight,
  { box: is }: PlacedControl,
): boolean {
  const by = now.scroll.top - sight.scroll.top;
  return (
    by !== 0 &&
    now.scroll.height === sight.scroll.height &&
    Math.abs(was.top - is.top - by) <= ROUND_PX &&
    Math.abs(was.left - is.left) <= ROUND_PX
  );
}

const isIn = ({ box }: PlacedControl, { x, y }: Point): boolean =>
  x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;

const isNear = (a: Point | null, b: Point): boolean =>
  a !== null && Math.hypot(a.x - b.x, a.y - b.y) <= REST_PX;
