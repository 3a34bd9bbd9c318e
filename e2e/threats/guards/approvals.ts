import type { Guard } from './guard.ts';

/** Guards of policy and approval. */
export const APPROVAL_GUARDS: readonly Guard[] = [
  {
    number: 'T69',
    file: 'lib/policy/match.ts',
    code: 'return (value, { steps }) => {\n    if (!isObject(value)) return simple.has(value);',
    broken: 'return (value, { steps }) => {\n    if (!isObject(value)) return true;',
  },
  {
    number: 'T71',
    file: 'server/policy/live-policy.ts',
    code: 'const now = { ...question, args };',
    broken: 'const now = question;',
  },
  {
    number: 'T72',
    file: 'lib/call/enter.ts',
    code: 'const deadlines = { approval: steady + approvalMs(head) };',
    broken: 'const deadlines = { approval: steady + 2 * approvalMs(head) };',
  },
  {
    number: 'T73',
    file: 'components/tool-call/use-seen-to-end.ts',
    code: '      if (clientHeight === 0) return;\n',
    broken: '',
  },
  {
    number: 'T74',
    file: 'server/approvals/always-allowed.ts',
    code: 'if (neverAlways || isNeverAlways(toolName)) return null;',
    broken: '',
  },
  {
    number: 'T74',
    file: 'server/approvals/always-allowed.ts',
    code: 'rule.used + taken < rule.uses',
    broken: 'rule.used < rule.uses',
  },
  {
    number: 'T74',
    file: 'lib/approval/bound-arguments.ts',
    code: "if (bound.other_arguments === 'none' && looking.names > countNames(bound)) return false;",
    broken: '',
  },
  {
    number: 'T75',
    file: 'lib/policy/match.ts',
    code: '    if (!isObject(value)) return simple.has(value);',
    broken:
      '    if (!isObject(value)) return [...simple].some((one) => String(value).includes(String(one)));',
  },
  {
    number: 'T76',
    file: 'server/auth/principal.ts',
    code: "principal.kind === 'operator' && hasRole(principal.role, 'operator');",
    broken: "principal.kind !== 'operator' || hasRole(principal.role, 'operator');",
  },
  {
    number: 'T77',
    file: 'server/tools/define-tool.ts',
    code: '  if (bound) refuseChanged(bound,',
    broken: '  if (!bound) refuseChanged([],',
  },
  {
    number: 'T78',
    file: 'lib/call/decide.ts',
    code: 'const asMoved = () => (call === stored ? NOT_NOW : change(stored, call, now));',
    broken: "const asMoved = () => change(stored, { ...call, phase: 'queued' }, now);",
  },
  {
    number: 'T79',
    file: 'lib/call/decide.ts',
    code: 'const asMoved = () => (call === stored ? NOT_NOW : change(stored, call, now));',
    broken: "const asMoved = () => step(call, { type: 'interrupted', message: 'lost' }, {}, now);",
  },
  {
    number: 'T80',
    file: 'server/approvals/open-approvals.ts',
    code: 'ofRun: this.#sizeOf(scopes.run),',
    broken: 'ofRun: 0,',
  },
  {
    number: 'T81',
    file: 'components/tool-call/arguments-to-read.tsx',
    code: '<MarkedText text={argumentsText(args.params)} keepLayout />',
    broken: '<span dangerouslySetInnerHTML={{ __html: argumentsText(args.params) }} />',
  },
  {
    number: 'T82',
    file: 'server/approvals/decisions.ts',
    code: '    if (refused) return this.#refused(call, refused);\n',
    broken: '    if (refused) return this.#done(call.id);\n',
  },
  {
    number: 'T83',
    file: 'lib/protocol/closed-object.ts',
    code: 'z.strictObject(shape,',
    broken: 'z.object(shape,',
  },
  {
    number: 'T84',
    file: 'server/tools/open-tools.ts',
    code: '  if (held) throw refuse(',
    broken: "  if (held === '') throw refuse(",
  },
  {
    number: 'T85',
    file: 'server/runs/delegate/delegation.ts',
    code: 'if (depth >= this.#maxDepth) {',
    broken: 'if (depth > this.#maxDepth) {',
  },
];
