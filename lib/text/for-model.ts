import { stripInvisible, stripInvisibleDeep } from './invisible.ts';
import { mapTexts, redactShapes } from './redact.ts';

/** The one way of a text to a model: without what people do not see, and without tokens. */
export const forModel = (text: string): string => redactShapes(stripInvisible(text));

/** The same for every text of a JSON value. */
export const forModelDeep = (value: unknown): unknown =>
  mapTexts(stripInvisibleDeep(value), redactShapes);
