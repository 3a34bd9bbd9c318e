import type { DeliveryRecord } from '../store/room.ts';
import { LONGEST_WAIT_MS } from './retry-schedule.ts';

export const dueAt = ({ nextAt, madeAt }: DeliveryRecord): number => nextAt ?? madeAt;

/** Deliveries that wait, in the order of their times: none is sorted again when another comes. */
export class DueQueue {
  readonly #all: DeliveryRecord[] = [];

  get first(): DeliveryRecord | undefined {
    return this.#all[0];
  }

  add(delivery: DeliveryRecord): void {
    this.#all.splice(this.#placeOf(delivery), 0, delivery);
  }

  /** As it was added. */
  delete(delivery: DeliveryRecord): void {
    const place = this.#placeOf(delivery);
    if (this.#all[place]?.id === delivery.id) this.#all.splice(place, 1);
  }

  /** One whose time has come, or never would: the wall clock was set back since that was chosen. */
  due(now: number): DeliveryRecord | undefined {
    const [first, last] = [this.#all[0], this.#all.at(-1)];
    if (first && dueAt(first) <= now) return first;
    return last && dueAt(last) - now > LONGEST_WAIT_MS ? last : undefined;
  }

  /** Of the first that does not come before it. */
  #placeOf(delivery: DeliveryRecord): number {
    let [from, to] = [0, this.#all.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const one = this.#all[middle];
      if (one && comesBefore(one, delivery)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

const comesBefore = (a: DeliveryRecord, b: DeliveryRecord): boolean =>
  dueAt(a) < dueAt(b) || (dueAt(a) === dueAt(b) && a.id < b.id);
