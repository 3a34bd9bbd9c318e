import { HttpError } from '#lib/protocol/http-error';
import { HIDDEN_RANGES, hiddenClass } from '#lib/text/hidden-code-points';
import { stripInvisible } from '#lib/text/invisible';

const HIDDEN = new RegExp(hiddenClass(HIDDEN_RANGES), 'gu');

/** The name of a device in one line, as everyone sees it (rule DV50). */
export function shownName(given: string): string {
  const name = stripInvisible(given.replace(/\p{Cc}+/gu, ' '))
    .replace(/\s+/g, ' ')
    .trim();
  if (name.replace(HIDDEN, '').trim() !== '') return name;
  throw new HttpError('bad_request', 'A device needs a name with a character that shows.');
}
