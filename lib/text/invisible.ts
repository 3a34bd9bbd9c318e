import { HIDDEN_RANGES, hiddenClass } from './hidden-code-points.ts';
import { mapTexts } from './map-texts.ts';

/**
 * Characters that do not show on a screen and that a model reads. Text hidden in them could
 * instruct a model without the person who watches seeing it.
 *
 * What stays: the joiners U+200C and U+200D, and the two selectors U+FE0E and U+FE0F, which emoji
 * and Persian are written with, but for long rows of them; the blanks U+2800 and U+3164, which take the place of a letter.
 */
const INVISIBLE = new RegExp(hiddenClass(HIDDEN_RANGES.filter(({ strip }) => strip)), 'gu');

/** Of those that stay, no writing has three in a row; data that is hidden in them has. */
const CARRIER = /(?:\u00ad|\u200c|\u200d|\ufe0e|\ufe0f){3,}/g;

/** Without the characters that people do not see. */
export const stripInvisible = (text: string): string =>
  text.replace(INVISIBLE, '').replace(CARRIER, '');

/** The same for every text of a JSON value, keys too; a value without any comes back as it is. */
export const stripInvisibleDeep = (value: unknown): unknown => mapTexts(value, stripInvisible);
