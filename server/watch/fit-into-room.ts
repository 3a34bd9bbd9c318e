/** One way to show an item; it is used as long as all together stay within `upTo` bytes. */
export interface Form<T, Shown> {
  show(item: T): Shown;
  readonly upTo: number;
}

export interface Fitted<Shown> {
  /** In the order in which the items were given. */
  readonly shown: readonly { readonly value: Shown; readonly json: string }[];
  /** Of the JSON texts, with a comma for each. */
  readonly bytes: number;
  readonly leftOut: number;
  /** Each is shown in the first form. */
  readonly isWhole: boolean;
}

/**
 * As many items as there is room for, first ones first: each in the first of the
 * forms that still has room, and once a form is full it stays so. A last form
 * that has no room leaves the item out, and all that follow it.
 */
export function fitIntoRoom<T, Shown>(
  items: readonly T[],
  forms: readonly Form<T, Shown>[],
): Fitted<Shown> {
  const shown: { value: Shown; json: string }[] = [];
  let bytes = 0;
  let current = 0;
  for (const item of items) {
    for (let form = forms[current]; form; form = forms[current]) {
      const value = form.show(item);
      const json = JSON.stringify(value);
      const size = Buffer.byteLength(json) + 1;
      if (bytes + size <= form.upTo) {
        shown.push({ value, json });
        bytes += size;
        break;
      }
      current += 1;
    }
    if (current >= forms.length) break;
  }
  return { shown, bytes, leftOut: items.length - shown.length, isWhole: current === 0 };
}
