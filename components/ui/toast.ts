import { showControlCharacters } from '#lib/format/show-control-characters';
import { createObservable } from '#lib/util/observable';

export interface Toast {
  readonly title: string;
  readonly description?: string;
  readonly isError: boolean;
}

/** As many as are shown at once; of more, the oldest give way. */
const MOST_WAITING = 3;

/** Messages that wait for what draws them; the drawing part takes them out. */
export const waitingToasts = createObservable<readonly Toast[]>([]);

export const showToast = (title: string, description?: string): void =>
  add({ title, isError: false, ...shown(description) });

/** Stays longer: it has a next step. */
export const showErrorToast = (title: string, description?: string): void =>
  add({ title, isError: true, ...shown(description) });

const add = (toast: Toast): void =>
  waitingToasts.set([...waitingToasts.get(), toast].slice(-MOST_WAITING));

/** Descriptions are words of the server, which may quote what others wrote. */
const shown = (description: string | undefined) =>
  description === undefined ? {} : { description: showControlCharacters(description) };
