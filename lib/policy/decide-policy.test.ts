import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withAutonomy } from './autonomy.ts';
import { compilePolicy, decidePolicy, type PolicyQuestion } from './decide-policy.ts';
import { describeIssue } from './describe-issue.ts';
import { MOST_PATTERN_CHARS, MOST_STEPS } from './match.ts';
import { POLICY_EFFECTS, policyDefinitionSchema } from './policy-definition.ts';

const bot = { kind: 'agent', name: 'bot' } as const;
const asked: PolicyQuestion = {
  caller: bot,
  via: 'http',
  toolName: 'mail.send',
  ...{ source: 'client', clientId: 'laptop', isUntrusted: true },
  access: 'write',
  schemaHash: 'h1',
  args: {},
};

const ofServer = { source: 'server', clientId: null, isUntrusted: false } as const;
const ofMcp = { source: 'mcp', clientId: null } as const;

const usual = (policy: object, more: Partial<PolicyQuestion> = {}) =>
  decidePolicy(compilePolicy(policyDefinitionSchema.parse(policy)), { ...asked, ...more });
/** By the rules alone, unless `policy` has another `unknown_effects`. */
const decide = (policy: object, more: Partial<PolicyQuestion> = {}) =>
  usual({ unknown_effects: 'allow', ...policy }, more);
const withRule = (rule: object, more: Partial<PolicyQuestion> = {}) =>
  decide({ rules: [{ effect: 'ask', ...rule }] }, more).effect;

test.each<[object, Partial<PolicyQuestion>, Partial<PolicyQuestion>]>([
  [{ tools: ['mail.*'] }, { toolName: 'MAIL_send' }, { toolName: 'mailer' }],
  [{ tools: ['Mail_Send'] }, {}, { toolName: 'mail.send2' }],
  [{ tools: ['mail.*'] }, { toolName: 'Mail_Send@laptop' }, { toolName: 'ail.send' }],
  [{ tools: ['mail.send@desk'] }, {}, { toolName: 'send' }],
  [{ callers: [{ kind: 'agent', name: 'bot' }] }, {}, { caller: { ...bot, name: 'bots' } }],
  [
    { callers: [{ role: 'operator' }, { kind: 'agent' }] },
    { caller: { kind: 'operator', name: 'olga', role: 'operator' } },
    { caller: { kind: 'operator', name: 'ada', role: 'admin' } },
  ],
  [{ via: ['run', 'mcp'] }, { via: 'run' }, {}],
  [{ source: 'client' }, {}, ofServer],
  [{ source: 'server' }, ofServer, ofMcp],
  [{ source: 'mcp' }, ofMcp, ofServer],
  [{ clients: ['phone', 'laptop'] }, {}, { clientId: 'tablet' }],
  [{ access: 'write' }, {}, { access: 'read' }],
  [{ schemas: ['h1'] }, {}, { schemaHash: 'h2' }],
  [{ tools: ['mail.*'], via: ['http'] }, {}, { via: 'run' }],
])('[PO1] the rule %j is for %j and not for %j', (rule, fits, other) => {
  expect([withRule(rule, fits), withRule(rule, other)]).toEqual(['ask', 'allow']);
});

const condition = (one: object, args: Record<string, unknown>) =>
  withRule({ args: [one] }, { args }) === 'ask';

test.each<[object, Record<string, unknown>, Record<string, unknown>]>([
  [{ path: '/n', equals: 5 }, { n: 5 }, { n: '5' }],
  [{ path: '/o', equals: { a: 1, b: 2 } }, { o: { b: 2, a: 1 } }, { o: { a: 1 } }],
  [{ path: '/n', equals: null }, { n: null }, {}],
  [{ path: '/to', one_of: ['a', 'b'] }, { to: 'b' }, { to: 'B' }],
  [{ path: '/file', starts_with: '/etc/' }, { file: '/etc/passwd' }, { file: '/srv/etc/' }],
  [{ path: '/to', matches: '@corp\\.example$' }, { to: 'x@corp.example' }, { to: 'corp.example' }],
  [{ path: '/to/1/mail', equals: 'x' }, { to: [{}, { mail: 'x' }] }, { to: { 1: 'x' } }],
  [{ path: '/to/*', equals: 'x' }, { to: ['y', 'x'] }, { to: 'x' }],
  [{ path: '/*/mail', equals: 'x' }, { a: {}, b: { mail: 'x' } }, { mail: 'x' }],
  [{ path: '/a~1b/~0', equals: 1 }, { 'a/b': { '~': 1 } }, { a: { b: 1 } }],
  [{ path: '/to', equals: 'x', not: true }, { to: 'y' }, { to: 'x' }],
  [{ path: '/to', equals: 'x', not: true }, {}, { to: 'x' }],
  [{ path: '/to/*', starts_with: 'x', not: true }, { to: ['x1', 'y'] }, { to: ['x1', 'x2'] }],
  [{ path: '/constructor', equals: 1, not: true }, {}, { constructor: 1 }],
  [{ path: '/n', greater_than: 100 }, { n: 100.5 }, { n: 100 }],
  [{ path: '/n', less_than: 0 }, { n: -1 }, { n: 0 }],
  [{ path: '/n/*', greater_than: 1, not: true }, { n: [2, 1] }, { n: [2, 3] }],
])('[PO3] the condition %j holds for %j and not for %j', (one, fits, other) => {
  expect([condition(one, fits), condition(one, other)]).toEqual([true, false]);
});

test('[PO2] the strongest effect counts, and the first rule with it is named', () => {
  const rules = [
    { name: 'known', effect: 'allow' },
    { name: 'mail', effect: 'ask', tools: ['mail.*'], reason: 'It leaves the house' },
    { name: 'second', effect: 'ask' },
    { effect: 'deny', args: [{ path: '/to', equals: 'all' }] },
  ];
  expect(decide({ rules })).toMatchObject({
    effect: 'ask',
    rule: 'mail',
    reason: 'It leaves the house',
    code: null,
  });
  expect(decide({ rules }, { args: { to: 'all' } })).toMatchObject({
    effect: 'deny',
    rule: 'rules.3',
    reason: 'The policy of this server denies mail.send',
  });
  expect(decide({ rules }, { toolName: 'other' })).toMatchObject({ effect: 'ask', rule: 'second' });
  const short = { ask: ['x', 'mail.*'], deny: ['door'], rules };
  expect(decide(short)).toMatchObject({ effect: 'ask', rule: 'ask.1', code: 'policy' });
  expect(decide({ rules: rules.slice(0, 1) })).toMatchObject({ effect: 'allow', rule: 'known' });
  expect(decide({})).toMatchObject({ effect: 'allow', rule: null });
});

test('[PO2] a further rule never weakens what is decided, wherever it stands', () => {
  const rule = fc.record({
    effect: fc.constantFrom(...POLICY_EFFECTS),
    tools: fc.subarray(['mail.*', 'mail.send', 'door', '*'], { minLength: 1 }),
  });
  const strength = (rules: object[]) => POLICY_EFFECTS.indexOf(decide({ rules }).effect);
  fc.assert(
    fc.property(fc.array(rule), rule, fc.nat(), (rules, more, at) => {
      const longer = rules.toSpliced(at % (rules.length + 1), 0, more);
      expect(strength(longer)).toBeGreaterThanOrEqual(strength(rules));
    }),
  );
});

const olga = { kind: 'operator', name: 'olga', role: 'viewer' } as const;

test.each<[string, Partial<PolicyQuestion>]>([
  ['of an agent', {}],
  ['of a device', { caller: { kind: 'device', name: 'phone' } }],
  ['in a run that an agent started', { via: 'run' }],
  ['in a run that a person started', { caller: olga, via: 'run' }],
  ['over MCP with the token of a person', { caller: olga, via: 'mcp' }],
  ['of a tool of an MCP server', ofMcp],
])('[PO25] T43: %s asks before effects that no rule is for, unless switched off', (_who, more) => {
  expect(usual({}, more)).toMatchObject({
    ...{ effect: 'ask', rule: 'unknown_effects', code: 'unknown_effects' },
    reason: 'mail.send is a client’s tool with effects, and no rule of the policy allows it',
  });
  expect(usual({}, { ...more, access: 'read' }).effect).toBe('allow');
  expect(usual({ unknown_effects: 'allow' }, more).effect).toBe('allow');
  expect(usual({ rules: [{ effect: 'allow', tools: ['mail.*'] }] }, more).effect).toBe('allow');
  const full = withAutonomy('full', usual({}, more), { ...asked, ...more });
  expect(full).toMatchObject({ effect: 'allow', rule: 'unknown_effects' });
});

test.each(['viewer', 'operator', 'admin'] as const)(
  '[PO25] a person with the role %s who calls by hand is not asked, and rules count all the same',
  (role) => {
    const more = { caller: { ...olga, role }, via: 'http' } as const;
    expect(usual({}, more)).toMatchObject({ effect: 'allow', rule: null });
    expect(usual({ ask: ['mail.send'] }, more).effect).toBe('ask');
  },
);

test('[PO25] the server’s own tools without a mark do not ask', () => {
  expect(usual({}, ofServer).effect).toBe('allow');
});

test('[PO4] what is too long to be searched counts against the call', () => {
  const pattern = (effect: string) => ({
    unknown_effects: 'ask',
    rules: [{ name: 'r', effect, args: [{ path: '/t', matches: '^x+$' }] }],
  });
  const of = (effect: string, t: string) => decide(pattern(effect), { args: { t } });
  const long = 'x'.repeat(MOST_PATTERN_CHARS);
  expect(of('deny', `${long}y`)).toMatchObject({ effect: 'deny', rule: 'r' });
  expect(of('allow', `${long}x`)).toMatchObject({ effect: 'ask', rule: 'unknown_effects' });
  expect(of('allow', long)).toMatchObject({ effect: 'allow', rule: 'r' });
});

test.each<[object, unknown]>([
  [{ matches: '^[0-9]{1,3}$', not: true }, 5_000],
  [{ matches: '^[0-9]{4,}$' }, 5_000],
  [{ starts_with: '/etc/' }, ['/etc/', 'passwd']],
  [{ starts_with: '/etc/' }, null],
  [{ greater_than: 100 }, '5000'],
  [{ less_than: 100, not: true }, { amount: 5_000 }],
])('[PO4] what the condition %j cannot compare, such as %j, counts against the call', (one, x) => {
  const of = (effect: string) =>
    decide({ rules: [{ effect, args: [{ path: '/x', ...one }] }] }, { args: { x } });
  expect(of('deny').effect).toBe('deny');
  expect(of('ask').effect).toBe('ask');
  expect(of('allow').rule).toBeNull();
});

/** Values that count how often they are looked at. */
function counted(length: number) {
  let looks = 0;
  const items = Array.from({ length }, () => 1);
  const x = new Proxy(items, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) looks += 1;
      return Reflect.get(target, key, receiver);
    },
  });
  return { args: { x }, looks: () => looks };
}

test('[PO16] all rules of one decision together look at no more values than its steps', () => {
  const none = { path: '/x/*', equals: 2 };
  const rules = Array.from({ length: 60 }, () => ({ effect: 'deny', args: Array(20).fill(none) }));
  const { args, looks } = counted(100_001);
  decide({ rules }, { args });
  expect(looks()).toBeLessThanOrEqual(MOST_STEPS);
  const one = counted(100_001);
  expect(decide({ rules: rules.slice(0, 1) }, one).effect).toBe('allow');
  expect(one.looks()).toBe(100_001);
});

test('[PO16] what is left unread when the steps are used up counts against the call', () => {
  // The arguments and the list are a step each.
  const args = { t: 'y', x: Array(MOST_STEPS - 2).fill(1) };
  const usesAll = { effect: 'deny', args: [{ path: '/x/*', equals: 2 }] };
  const later = (effect: string, t: string) => ({
    ...{ name: 'later', effect, args: [{ path: '/t', equals: t }] },
  });
  const of = (...rules: object[]) => decide({ unknown_effects: 'ask', rules }, { args }).rule;
  expect(of(usesAll)).toBe('unknown_effects');
  for (const effect of ['deny', 'ask']) {
    expect(of(later(effect, 'x'))).toBe('unknown_effects');
    expect(of(usesAll, later(effect, 'x'))).toBe('later');
    expect(of({ ...usesAll, tools: ['door'] }, later(effect, 'x'))).toBe('unknown_effects');
  }
  expect(of(later('allow', 'y'))).toBe('later');
  expect(of(usesAll, later('allow', 'y'))).toBe('unknown_effects');
});

const wide = Object.fromEntries(Array.from({ length: MOST_STEPS / 10 }, (_, at) => [at, at]));

const few = { a: 0, c: 0 };

test.each<[string, object, unknown, unknown]>([
  ['members of a compared object', { equals: { a: 1 } }, wide, few],
  ['objects of a list to be one of', { one_of: [{ a: 1 }, { b: 1 }] }, wide, few],
  ['characters that a pattern reads', { matches: 'z{200}$' }, 'x'.repeat(MOST_PATTERN_CHARS), 'x'],
])('[PO16] %s are counted too', (_what, one, value, short) => {
  const rules = Array(40).fill({ effect: 'deny', args: [{ path: '/x', ...one }] });
  expect(decide({ rules }, { args: { x: short } }).effect).toBe('allow');
  expect(decide({ rules }, { args: { x: value } }).effect).toBe('deny');
});

test('[PO6] a decision that looked at the executor is for that one alone', () => {
  const of = (rule: object, more = {}) =>
    decide({ rules: [{ effect: 'deny', ...rule }] }, more).isOfExecutor;
  expect(of({ clients: ['phone'] })).toBe(true);
  expect(of({ access: 'read' })).toBe(true);
  expect(of({ schemas: ['h2'] })).toBe(true);
  expect(of({ clients: ['phone'], tools: ['door'] })).toBe(false);
  expect(of({ tools: ['door'] })).toBe(false);
});

test('[PO26] a call that is allowed since it only reads says so, where others would be asked about', () => {
  const onlyReads = (policy: object, more: Partial<PolicyQuestion>) =>
    usual(policy, { access: 'read', ...more }).onlyReads;
  expect(onlyReads({}, {})).toBe(true);
  expect(onlyReads({ unknown_effects: 'allow' }, {})).toBeUndefined();
  expect(onlyReads({}, ofServer)).toBeUndefined();
  expect(onlyReads({}, { caller: olga })).toBeUndefined();
  expect(onlyReads({ rules: [{ effect: 'allow' }] }, {})).toBeUndefined();
  const question = { ...asked, access: 'read' } as const;
  expect(withAutonomy('full', usual({}, question), question)).not.toHaveProperty('onlyReads');
});

test.each<[object, string]>([
  [
    { rules: [{ effect: 'maybe' }] },
    'rules.0.effect is the text "maybe": it must be "allow" or "ask" or "deny"',
  ],
  [{ deny: ['a*b'] }, 'deny.0 is the text "a*b": it must be a name such as "mail.send"'],
  [
    { rules: [{ effect: 'ask', tool: 'x' }] },
    'rules.0 is an object: it has the unknown key "tool"',
  ],
  [
    { rules: [{ effect: 'ask', tools: [] }] },
    'rules.0.tools is a list of 0: it must have at least 1 in the list',
  ],
  [
    { rules: [{ effect: 'ask', args: [{ path: 'to', equals: 1 }] }] },
    'rules.0.args.0.path is the text "to": it must be a JSON Pointer',
  ],
  [
    { rules: [{ effect: 'ask', args: [{ path: '/to' }] }] },
    'rules.0.args.0 is an object: it must have exactly one of equals, one_of, starts_with, matches, greater_than, less_than; it has none',
  ],
  [
    { rules: [{ effect: 'ask', args: [{ path: '/to', matches: '(?=x)' }] }] },
    'rules.0.args.0.matches is the text "(?=x)": the pattern cannot be tested in linear time',
  ],
  [
    { rules: [{ effect: 'allow', args: [{ path: '/to/*', equals: 1 }] }] },
    'rules.0.args.0.path is the text "/to/*": a rule that allows cannot look at each member',
  ],
  [
    { rules: [{ effect: 'deny', callers: [{ kind: 'agent', role: 'admin' }] }] },
    'rules.0.callers.0.role is the text "admin": people alone have a role; leave out one of role and kind',
  ],
  [
    {
      rules: [
        { effect: 'ask', name: 'a' },
        { effect: 'deny', name: 'a' },
      ],
    },
    'rules.1.name is the text "a": another one has this name',
  ],
])('[PO5] %j is refused by where, what was found and what would be right', (policy, line) => {
  const checked = policyDefinitionSchema.safeParse(policy, { reportInput: true });
  expect(checked.error && describeIssue(checked.error, 'policy')).toContain(line);
});

const withPatterns = (matches: readonly string[]) => ({
  rules: matches.map((one) => ({ effect: 'deny', args: [{ path: '/to', matches: one }] })),
});

test('[PO20] the patterns of one policy share what it takes to compile them', () => {
  const large = Array.from({ length: 40 }, (_, at) => `${at}[a-z]{950}`);
  const checked = policyDefinitionSchema.safeParse(withPatterns(large), { reportInput: true });
  expect(checked.error && describeIssue(checked.error, 'policy')).toMatch(
    /^rules\.\d+\.args\.0\.matches is the text ".+": the patterns of a policy together may/,
  );
  const usual = Array.from({ length: 400 }, (_, at) => `@team${at}\\.corp\\.example$`);
  expect(policyDefinitionSchema.safeParse(withPatterns(usual)).success).toBe(true);
});

test('[PO20] tiny patterns count as well, and those of limits', () => {
  const args = Array.from({ length: 20 }, () => ({ path: '/to', matches: 'x' }));
  const limits = Array(100).fill({ calls: 1, seconds: 1, args });
  expect(policyDefinitionSchema.safeParse({ limits }).success).toBe(false);
});

test('[PO19] what of the server itself may destroy something is asked about, unless a rule allows it', () => {
  const own = { ...ofServer, destructive: true };
  expect(decide({}, own)).toMatchObject({ effect: 'ask', rule: 'destructive' });
  expect(decide({}, { ...own, destructive: false }).effect).toBe('allow');
  expect(decide({}, { ...own, access: 'read' }).effect).toBe('allow');
  expect(decide({ rules: [{ effect: 'allow', tools: ['mail.send'] }] }, own).effect).toBe('allow');
  expect(decide({ deny: ['mail.send'] }, own).effect).toBe('deny');
});

const unnamed = { ...ofMcp, configured: { effect: 'ask', isDefault: true } } as const;
const named = (effect: 'allow' | 'ask' | 'deny') => ({ ...ofMcp, configured: { effect } });
const person = { caller: { kind: 'operator', name: 'olga', role: 'operator' } } as const;

test.each<[string, object, Partial<PolicyQuestion>, string, string | null]>([
  ['no word', {}, unnamed, 'ask', 'mcp_servers'],
  ['no word, of a tool that reads', {}, { ...unnamed, access: 'read' }, 'ask', 'mcp_servers'],
  ['no word, by a person', {}, { ...unnamed, ...person }, 'allow', 'mcp_servers'],
  ['no word, and an allow', { rules: [{ effect: 'allow' }] }, unnamed, 'allow', 'rules.0'],
  ['no word, and a deny', { deny: ['mail.*'] }, unnamed, 'deny', 'deny.0'],
  ['allow', { unknown_effects: 'ask' }, named('allow'), 'allow', 'mcp_servers'],
  ['allow, and an ask', { ask: ['mail.*'] }, named('allow'), 'ask', 'ask.0'],
  ['ask, and an allow', { rules: [{ effect: 'allow' }] }, named('ask'), 'ask', 'mcp_servers'],
  ['ask, by a person', {}, { ...named('ask'), ...person }, 'ask', 'mcp_servers'],
  ['deny, and an allow', { rules: [{ effect: 'allow' }] }, named('deny'), 'deny', 'mcp_servers'],
  ['ask, and a deny', { deny: ['mail.*'] }, named('ask'), 'deny', 'deny.0'],
])('[PO33] %s in mcp_servers, of a policy %j', (_what, policy, more, effect, rule) => {
  expect(decide(policy, more)).toMatchObject({ effect, rule, isOfExecutor: true });
});

/** Each choice that a rule's scope offers, and a call that has the value. */
const _HAVING: Record<string, (value: string) => [scope: object, call: object]> = {
  kind: (kind) => [{ callers: [{ kind }] }, { caller: { kind, name: 'x' } }],
  role: (role) => [{ callers: [{ role }] }, { caller: { kind: 'operator', name: 'x', role } }],
  via: (via) => [{ via: [via] }, { via }],
  source: (source) => [{ source }, { source }],
  access: (access) => [{ access }, { access }],
};
const _ELSEWHERE = { caller: bot, via: 'other', source: 'other', access: 'other' };

/** The values of each `enum`, at any depth of a JSON Schema, by the key that has them. */
function _choicesIn(schema: unknown, key = ''): [key: string, value: string][] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]) =>
    name === 'enum' && Array.isArray(inner)
      ? inner.map((value): [string, string] => [key, String(value)])
      : _choicesIn(inner, ['items', 'properties'].includes(name) ? key : name),
  );
}

test('[PO34] no rule allows by arguments that were not all checked', () => {
  const small = { path: '/amount', less_than: 10 };
  const policy = {
    unknown_effects: 'ask',
    rules: [
      { effect: 'allow', args: [small] },
      { effect: 'deny', args: [{ ...small, not: true }] },
    ],
  };
  const effectOf = (amount: number, more: Partial<PolicyQuestion> = {}) =>
    decide(policy, { args: { amount }, ...more }).effect;
  expect([effectOf(5), effectOf(50)]).toEqual(['allow', 'deny']);
  const unchecked = { hasUncheckedArgs: true };
  expect([effectOf(5, unchecked), effectOf(50, unchecked)]).toEqual(['ask', 'deny']);
});
