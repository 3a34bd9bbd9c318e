import { z } from 'zod';
import { closedObject } from '../protocol/closed-object.ts';
import { POOL_SOURCE } from '../protocol/tool-source.ts';
import { compilePattern, MAX_PATTERN_SIZE } from '../schema/compile-pattern.ts';
import { patternSize } from '../schema/pattern-size.ts';

/** All patterns of one policy may take so much, as `patternSize` counts: about a tenth of a second. */
const MOST_OF_PATTERNS = 20_000;

/** A pattern takes so much, however small it is. */
const EACH = 16;

interface WithConditions {
  readonly args?: readonly { readonly matches?: string | undefined }[] | undefined;
}

interface WithPatterns {
  readonly rules: readonly WithConditions[];
  readonly limits: readonly WithConditions[];
}

/** The first pattern that cannot be used, alone or beside those before it. No further one is compiled. */
function patternProblem(definition: WithPatterns) {
  let left = MOST_OF_PATTERNS;
  for (const { pattern, path } of patternsOf(definition)) {
    left -= patternSize(pattern) + EACH;
    const message = left < 0 ? TOO_MANY : problemOf(pattern);
    if (message) return { message, path, input: pattern };
  }
  return undefined;
}

const patternsOf = (definition: WithPatterns) =>
  (['rules', 'limits'] as const).flatMap((list) =>
    definition[list].flatMap(({ args = [] }, at) =>
      args.flatMap(({ matches: pattern }, place) =>
        pattern === undefined ? [] : [{ pattern, path: [list, at, 'args', place, 'matches'] }],
      ),
    ),
  );

const TOO_MANY = `the patterns of a policy together may take ${MOST_OF_PATTERNS}, each about its letters and ${EACH}, where a repetition such as "{20}" counts as often; use fewer or smaller ones`;

function problemOf(pattern: string): string | undefined {
  const compiled = compilePattern(pattern, MAX_PATTERN_SIZE);
  return compiled.ok ? undefined : `the pattern ${compiled.reason}`;
}

/** The possible decisions on a call, the weakest first. */
export const POLICY_EFFECTS = ['allow', 'ask', 'deny'] as const;
export type PolicyEffect = (typeof POLICY_EFFECTS)[number];

/** The built-in agent, a program or person over HTTP, an MCP client. */
export const CALL_ORIGINS = ['run', 'http', 'mcp'] as const;
export type CallOrigin = (typeof CALL_ORIGINS)[number];

/** These make calls: devices answer them, and people with the role of a viewer read. */
export const CALLING_KINDS = ['operator', 'agent'] as const;
export const CALLING_ROLES = ['operator', 'admin'] as const;

const text = z.string().min(1).max(500);

/** A whole name, or the beginning of one with `*` behind it. */
const toolPattern = text.regex(/^[^*]*\*?$/, {
  error:
    'it must be a name such as "mail.send", or the beginning of names with one * behind it, such as "mail.*"',
});

/** A JSON Pointer (RFC 6901), in which a part `*` is each member. */
const pointer = text.regex(/^(?:\/(?:[^~/]|~[01])*)+$/, {
  error:
    'it must be a JSON Pointer such as "/to" or "/items/0/price"; "/items/*/price" means each item',
});

const TESTS = [
  ...['equals', 'one_of', 'starts_with', 'matches'],
  ...['greater_than', 'less_than'],
] as const;

const conditionSchema = closedObject({
  path: pointer,
  equals: z.unknown().optional(),
  one_of: z.array(z.unknown()).min(1).max(200).optional(),
  starts_with: text.optional(),
  /** Checked with all others of the policy. */
  matches: text.optional(),
  greater_than: z.number().optional(),
  less_than: z.number().optional(),
  /** Holds where the test does not: also where the argument is missing. */
  not: z.boolean().default(false),
}).superRefine((condition, context) => {
  const given = TESTS.filter((test) => test in condition);
  if (given.length === 1) return;
  context.addIssue({
    code: 'custom',
    message: `it must have exactly one of ${TESTS.join(', ')}; it has ${given.join(', ') || 'none'}`,
    input: condition,
  });
});
export type PolicyCondition = z.infer<typeof conditionSchema>;

const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).min(1).max(200).optional();

/** A rule or a limit is for the calls that fit all of these. */
const scope = {
  tools: listOf(toolPattern),
  /** The one who calls, or for whom the built-in agent does. */
  callers: listOf(
    closedObject({
      kind: z.enum(CALLING_KINDS).optional(),
      role: z.enum(CALLING_ROLES).optional(),
      name: text.optional(),
    }).superRefine(({ kind, role }, context) => {
      if (kind !== 'agent' || role === undefined) return;
      const message = 'people alone have a role; leave out one of role and kind';
      context.addIssue({ code: 'custom', path: ['role'], message, input: role });
    }),
  ),
  via: listOf(z.enum(CALL_ORIGINS)),
  /** Whose tool it is; `pool`: a call that asks each client. */
  source: z.enum(['server', 'client', 'mcp', POOL_SOURCE]).optional(),
  /** Ids of clients: their names are their own choice. */
  clients: listOf(text),
  /** `read`: the tool is annotated as one without effects. */
  access: z.enum(['read', 'write']).optional(),
  /** Hashes of schemas, as `POST /v1/policy/dry-run` shows them. */
  schemas: listOf(text),
  args: z.array(conditionSchema).min(1).max(20).optional(),
};

const marked = (...tools: string[]) => z.array(toolPattern).max(200).default(tools);

const ruleSchema = closedObject({
  /** By which records and people name it; its place in the file without one. */
  name: text.optional(),
  effect: z.enum(POLICY_EFFECTS),
  /** For people and for the model. */
  reason: text.optional(),
  /** It is for calls alone that could carry out what their run has read (`taint`). */
  tainted: z.literal(true).optional(),
  ...scope,
}).superRefine((rule, context) => {
  const open = rule.effect === 'allow' ? rule.args?.findIndex(({ path }) => hasEach(path)) : -1;
  if (open === undefined || open < 0) return;
  context.addIssue({
    code: 'custom',
    path: ['args', open, 'path'],
    message:
      'a rule that allows cannot look at each member with *: one that fits would allow the others; ask or deny where one does not fit, with "not": true',
    input: rule.args?.[open]?.path,
  });
});
export type PolicyRule = z.infer<typeof ruleSchema>;

/** A limit may count each of these separately. */
export const COUNTED_BY = ['caller', 'tool', 'client'] as const;

const limitSchema = closedObject({
  name: text.optional(),
  calls: z.int().min(1).max(1_000_000),
  /** In which they may be made; at most 31 days. */
  seconds: z.int().min(1).max(2_678_400),
  /** Without it all calls that fit are counted together. */
  each: listOf(z.enum(COUNTED_BY)),
  ...scope,
});
export type PolicyLimit = z.infer<typeof limitSchema>;

const hasEach = (path: string): boolean => path.split('/').includes('*');

/** The part `hooks` of the configuration file, in the order in which they are asked. */
export const hooksDefinitionSchema = z
  .array(
    closedObject({
      /** A path, from the folder of the configuration file. */
      module: text,
      /** By which cards, events and the log name it; its file's name without one. */
      name: text.optional(),
      /** All without it. */
      tools: listOf(toolPattern),
      timeout_ms: z.int().min(10).max(60_000).default(2_000),
      /** When it fails, no call is made and no result is used. */
      security: z.boolean().default(false),
    }),
  )
  .max(20)
  .default([]);

/** The part `policy` of the configuration file. */
export const policyDefinitionSchema = closedObject({
  /** In short for rules with this effect and these tools. */
  ask: z.array(toolPattern).max(500).default([]),
  deny: z.array(toolPattern).max(500).default([]),
  rules: z.array(ruleSchema).max(500).default([]),
  /** How often; of several that are for a call each counts. */
  limits: z.array(limitSchema).max(100).default([]),
  /** Decides on a program's call of a client's tool with effects that no rule is for. */
  unknown_effects: z.enum(['allow', 'ask']).default('ask'),
  /** Which tools read what is private or untrusted, and which could carry it out. */
  taint: closedObject({
    private: marked(
      ...['database.query', 'memory.recall', 'file.read', 'shell', 'clipboard.read'],
      ...[
        'geolocation.*',
        'camera.*',
        'browser.screenshot',
        'screenshot',
        'microphone.*',
        'speech.listen',
      ],
      ...['contacts.*', 'file.pick'],
    ),
    /** Besides those of clients, and those that reach the outside. */
    untrusted: marked(),
    /** Besides those that reach the outside by their annotations. */
    way_out: marked('http.request', 'shell', 'run_code'),
  }).prefault({}),
}).superRefine((definition, context) => {
  const wrong = patternProblem(definition);
  if (wrong) context.addIssue({ code: 'custom', ...wrong });
  for (const list of ['rules', 'limits'] as const) {
    const names = definition[list].map(({ name }) => name);
    const again = names.findIndex((name, at) => name !== undefined && names.indexOf(name) < at);
    if (again < 0) continue;
    context.addIssue({
      code: 'custom',
      path: [list, again, 'name'],
      message: 'another one has this name; each needs its own',
      input: names[again],
    });
  }
});
export type PolicyDefinition = z.infer<typeof policyDefinitionSchema>;
