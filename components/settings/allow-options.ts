import { ALLOWED_TOOL, allowsTool } from '#lib/protocol/token-names';

/** One line of the list that an allow-list is chosen from. */
export interface AllowOption {
  /** A tool's name, or a family: `file.*`. */
  readonly entry: string;
  /** How many of the tools that are there it lets be called. */
  readonly tools: number;
  readonly isChosen: boolean;
  /** The chosen family that allows it already. */
  readonly family: string | null;
}

/** `a.b.c` is of the families `a.*` and `a.b.*`. */
const familiesOf = (name: string): string[] => {
  const parts = name.split('.');
  return parts.slice(1).map((_, at) => `${parts.slice(0, at + 1).join('.')}.*`);
};

/** Families with more than one tool, in the order of their names. */
function families(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const family of names.flatMap(familiesOf)) {
    counts.set(family, (counts.get(family) ?? 0) + 1);
  }
  return [...counts].flatMap(([family, count]) => (count > 1 ? [family] : [])).sort();
}

/**
 * What can be chosen: what is chosen and not there now, families, tools that are there, and what was
 * searched for, when it can be a tool. No line moves when it is chosen.
 */
export function allowOptions(
  names: readonly string[],
  chosen: readonly string[],
  search: string,
): AllowOption[] {
  const wanted = search.trim();
  const typed = ALLOWED_TOOL.test(wanted) ? [wanted] : [];
  const known = [...families(names), ...[...names].sort()];
  const absent = chosen.filter((entry) => entry !== wanted && !known.includes(entry));
  const all = [...absent, ...known, ...typed];
  const fits = (entry: string) => entry.toLowerCase().includes(wanted.toLowerCase());
  return [...new Set(all)].filter(fits).map((entry) => ({
    entry,
    tools: names.filter((name) => allowsTool(entry, name)).length,
    isChosen: chosen.includes(entry),
    family:
      chosen.find((one) => one !== entry && one.endsWith('.*') && allowsTool(one, entry)) ?? null,
  }));
}
