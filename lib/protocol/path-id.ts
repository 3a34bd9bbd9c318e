import { z } from 'zod';

/** No path carries these whole: `/` and `\\` even encoded, controls, halves of characters, and U+FFFD, which stands for these. */
const NOT_IN_A_PATH = /[\p{Cc}\p{Cs}\ufffd/\\]/u;

/** An id that a caller chooses and a path has to carry: `GET /v1/runs/:id` reaches each that is accepted. */
export const pathIdSchema = z
  .string()
  .min(1)
  .max(128)
  .refine(
    (id) => !NOT_IN_A_PATH.test(id) && id !== '.' && id !== '..',
    'is part of paths: it may not be "." or "..", nor have a slash, a backslash, a control character or half a surrogate pair',
  );
