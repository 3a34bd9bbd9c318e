import type { Tone } from './card-view.ts';

/** Colours by tone, as Tailwind classes. The edge reads `--s` of the `card` class. */
export const CHIP_CLASSES: Record<Tone, string> = {
  wait: 'bg-waitbg text-wait',
  attn: 'border-attn bg-attn text-attnfg',
  doing: 'bg-doingbg text-doing',
  success: 'bg-successbg text-success',
  error: 'bg-errorbg text-error',
  cancel: 'bg-cancelbg text-cancel',
};

export const EDGE_CLASSES: Record<Tone, string> = {
  wait: '[--s:var(--wait)]',
  attn: '[--s:var(--attn)]',
  doing: '[--s:var(--doing)]',
  success: '[--s:var(--success)]',
  error: '[--s:var(--error)]',
  cancel: '[--s:var(--cancel)]',
};
