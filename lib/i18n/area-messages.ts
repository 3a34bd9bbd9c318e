/** Texts by key, nested as the screen is. Values are ICU messages. */
export interface MessageTree {
  readonly [key: string]: string | MessageTree;
}

/** One part of the screen in every language we speak. */
export interface AreaMessages {
  readonly en: MessageTree;
  readonly zh: MessageTree;
}

/** A tree with the very same keys, whatever its texts. */
export type SameKeys<Tree> = {
  readonly [Key in keyof Tree]: Tree[Key] extends string ? string : SameKeys<Tree[Key]>;
};

/**
 * Lets an area pass only when both languages have the same keys: a key that one
 * of them lacks, or has alone, does not compile.
 */
export const sameKeys = <const En, const Zh extends SameKeys<En>>(
  area: { readonly en: En; readonly zh: Zh } & NoExtraKeys<En, Zh>,
): { readonly en: En; readonly zh: Zh } => area;

type NoExtraKeys<En, Zh> =
  Zh extends SameKeys<En>
    ? En extends SameKeys<Zh>
      ? unknown
      : { readonly en: SameKeys<Zh> }
    : never;
