import { CONCEPTS } from './lexicon.ts';

export interface OfferedTool {
  /** As it is offered, e.g. `weather_query`. */
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
}

/** Words that do not describe what a tool is for. */
const EMPTY_WORDS = new Set(
  'a an and are as at be by can do does for from get give has have how i if in is it its make me my now of on or our out please run set show tell that the then this to tool use what when which will with you your call using data info query read write all any one new current value values result returns return person user'.split(
    ' ',
  ),
);

const NAME_SCORE = 4;
const ENOUGH = 3;

interface Scored {
  readonly tool: OfferedTool;
  readonly score: number;
  /** What of the text matches it, the strongest kind only. */
  readonly evidence: ReadonlySet<string>;
}

/**
 * The tools a text asks for, best first (rules AL80 to AL84). A tool needs
 * evidence that no better one has used: "clipboard" means one of the clipboard's
 * tools, while "a photo and a screenshot" means two.
 */
export function matchTools(text: string, tools: readonly OfferedTool[]): OfferedTool[] {
  const scored = tools
    .map((tool) => score(text, tool))
    .filter((one) => one.score >= ENOUGH)
    .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1));
  const used = new Set<string>();
  const chosen: OfferedTool[] = [];
  for (const { tool, evidence } of scored) {
    if ([...evidence].every((one) => used.has(one))) continue;
    for (const one of evidence) used.add(one);
    chosen.push(tool);
  }
  return chosen;
}

function score(text: string, tool: OfferedTool): Scored {
  const lower = text.toLowerCase();
  const nameWords = wordsOf(tool.name);
  if (isNamed(lower, tool.name)) return { tool, score: 20, evidence: new Set([tool.name]) };
  const byName = new Set<string>();
  const byDescription = new Set<string>();
  let total = 0;
  let isKnownKind = false;
  for (const concept of CONCEPTS) {
    const names = concept.named.some((named) => includesAll(nameWords, named));
    isKnownKind ||= names;
    if (!concept.pattern.test(text)) continue;
    if (names) {
      byName.add(concept.key);
      // Two words mean one tool of a family more surely than one word.
      total += NAME_SCORE + (concept.named.some((named) => named.includes(' ')) ? 2 : 0);
    } else if (concept.named.some((named) => tool.description.toLowerCase().includes(named))) {
      byDescription.add(concept.key);
      total += 1.5;
    }
  }
  const asked = new Set(wordsOf(text).map(stem));
  // "A screenshot of this page" does not ask for `page_text`: how people ask for that is listed.
  const perWord = isKnownKind && byName.size === 0 ? ENOUGH / 3 : ENOUGH;
  for (const word of nameWords) {
    if (EMPTY_WORDS.has(word)) total += asked.has(stem(word)) ? 0.5 : 0;
    else if (asked.has(stem(word))) {
      byName.add(stem(word));
      total += perWord;
    }
  }
  total += shared(asked, tool.description, byDescription);
  return { tool, score: total, evidence: byName.size > 0 ? byName : byDescription };
}

const includesAll = (words: readonly string[], phrase: string): boolean =>
  phrase.split(' ').every((word) => words.includes(word));

/** A few words in common with a description count as much as one of the name. */
function shared(asked: ReadonlySet<string>, description: string, evidence: Set<string>): number {
  let count = 0;
  for (const word of new Set(wordsOf(description))) {
    if (EMPTY_WORDS.has(word) || !asked.has(stem(word))) continue;
    evidence.add(stem(word));
    count += 1;
  }
  return Math.min(count, 4);
}

/** Its full name, in either spelling, is as plain as it gets. */
const isNamed = (lower: string, name: string): boolean =>
  name.includes('_') && lower.replaceAll('.', '_').includes(name.toLowerCase());

/** Words of Latin scripts; of Chinese every pair of characters, as it has no blanks. */
function wordsOf(text: string): string[] {
  const spaced = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  const words = spaced.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => (/\p{Script=Han}/u.test(word) ? pairsOf(word) : [word]));
}

const pairsOf = (word: string): string[] => {
  const characters = Array.from(word);
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
};

/** `notes` and `note`, `ringing` and `ring`: enough to find a tool by. */
const stem = (word: string): string =>
  word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word.replace(/(?<=..)s$/, '');
