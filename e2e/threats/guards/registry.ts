import type { Guard } from './guard.ts';

/** Guards of tools that clients offer. */
export const REGISTRY_GUARDS: readonly Guard[] = [
  {
    number: 'T37',
    file: 'server/tools/tool-registry.ts',
    code: 'if (inside.reserves(name)) {',
    broken: 'if (name === undefined) {',
  },
  {
    number: 'T38',
    file: 'server/tools/tool-pools.ts',
    code: 'return holder === name ? undefined : holder;',
    broken: 'return holder === name ? undefined : undefined;',
  },
  {
    number: 'T39',
    file: 'lib/protocol/tool-name.ts',
    code: ' && !OBJECT_NAMES.has(name);',
    broken: ';',
  },
  {
    number: 'T40',
    file: 'server/calls/route-call.ts',
    code: 'possible({ ...only, schemaHash });',
    broken: 'possible({ ...only });',
  },
  {
    number: 'T41',
    file: 'server/calls/route-call.ts',
    code: 'own().filter(({ tool }) => sameJson(scopeOf(tool), approval));',
    broken: 'own();',
  },
  {
    number: 'T42',
    file: 'server/calls/route-call.ts',
    code: "? unrepaired(call, checkAgain(call, route.tool, 'executor'))\n    : route;",
    broken: '? route\n    : route;',
  },
  {
    number: 'T43',
    file: 'lib/policy/decide-policy.ts',
    code: "looks && access === 'write' ? 'ask' : 'allow'",
    broken: "looks && access === 'write' ? 'allow' : 'allow'",
  },
  {
    number: 'T44',
    file: 'server/runs/agent/build-model-history.ts',
    code: "const text = forModel([...texts, described].filter(Boolean).join('\\n') + note + unshown);",
    broken: "const text = [...texts, described].filter(Boolean).join('\\n') + note + unshown;",
  },
  {
    number: 'T45',
    file: 'lib/schema/compile-pattern.ts',
    code: 'const program = held?.deref() ?? toProgram(source);',
    broken: "const program = held?.deref() ?? Object(new RegExp(source, 'u'));",
  },
  {
    number: 'T46',
    file: 'lib/schema/compile-tool-schema.ts',
    code: 'if (expansion > MAX_EXPANSION || open.size >= MAX_CHAIN) {',
    broken: 'if (open.size >= 10 * MAX_CHAIN) {',
  },
  {
    number: 'T47',
    file: 'server/tools/tool-registry.ts',
    code: ' >= LIMITS.toolsPerClient)',
    broken: ' > LIMITS.toolsPerClient)',
  },
  {
    number: 'T48',
    file: 'server/tools/tool-registry.ts',
    code: 'OfferChange): void {\n    this.#sortedNames = undefined;\n',
    broken: 'OfferChange): void {\n',
  },
  {
    number: 'T49',
    file: 'server/tools/tool-registry.ts',
    code: 'const registered = names.length;',
    broken: 'const registered = checked.length;',
  },
  {
    number: 'T50',
    file: 'server/tools/list-tools.ts',
    code: 'source: origin.source,',
    broken: "source: 'server',",
  },
];
