import type { Guard } from './guard.ts';

/** Guards of what tools reach. */
export const TOOL_GUARDS: readonly Guard[] = [
  {
    number: 'T97',
    file: 'lib/call/model-output.ts',
    code: '  result: record?.result,',
    broken: '  result: record?.display ?? record?.result,',
  },
  {
    number: 'T98',
    file: 'server/policy/live-policy.ts',
    code: 'return isAsked ? this.#readBy(principal, runId) : NO_TAINT;',
    broken: 'return NO_TAINT;',
  },
  {
    number: 'T99',
    file: 'server/policy/live-policy.ts',
    code: '(isWayOut || isUntrusted);',
    broken: 'isWayOut && !isUntrusted;',
  },
  {
    number: 'T100',
    file: 'lib/call/model-output.ts',
    code: 'call.attachments.filter(isShowable)',
    broken: '[...call.attachments, ...[call.result].flat()].filter(isShowable)',
  },
  {
    number: 'T101',
    file: 'server/tools/workspace/open-folder.ts',
    code: "    segments.includes('..') ||\n",
    broken: '',
  },
  {
    number: 'T102',
    file: 'server/tools/workspace/open-folder.ts',
    code: ' | constants.O_DIRECTORY | constants.O_NOFOLLOW;',
    broken: ' | constants.O_DIRECTORY;',
  },
  {
    number: 'T103',
    file: 'server/tools/workspace/file-tools.ts',
    code: 'const MOST_READ = 256 * 1024;',
    broken: 'const MOST_READ = 512 * 1024;',
  },
  {
    number: 'T104',
    file: 'server/tools/open-tools.ts',
    code: 'if (isolation) return createShell({ ...settings, isolation });',
    broken: 'if (isolation) return createShell(settings);',
  },
  {
    number: 'T104',
    file: 'server/tools/workspace/run-program.ts',
    code: '...GROUP,\n    cwd,',
    broken: '...GROUP,\n    cwd,\n    env: { ...process.env, ...env },',
  },
  {
    number: 'T105',
    file: 'server/tools/workspace/run-program.ts',
    code: 'shell: false',
    broken: 'shell: true',
  },
  {
    number: 'T106',
    file: 'server/tools/workspace/run-program.ts',
    code: "process.kill(-child.pid, 'SIGKILL');",
    broken: "child.kill('SIGKILL');",
  },
  {
    number: 'T107',
    file: 'server/tools/builtin/http-targets.ts',
    code: "  '127.0.0.0/8',\n",
    broken: '',
  },
  {
    number: 'T108',
    file: 'server/tools/builtin/http-request.ts',
    code: 'if (all || !first) callback(null, [...addresses]);',
    broken: "if (all || !first) callback(null, [{ address: '127.0.0.9', family: 4 }]);",
  },
  {
    number: 'T109',
    file: 'server/tools/builtin/http-request.ts',
    code: '      via: TOOL_VIA,\n',
    broken: '',
  },
  {
    number: 'T110',
    file: 'server/tools/builtin/http-request.ts',
    code: '    if (room < 0) break;',
    broken: '    if (room < -1e12) break;',
  },
  {
    number: 'T111',
    file: 'server/tools/builtin/database-worker.ts',
    code: 'if (!isBlank(request.sql.slice(statement.sourceSQL.length))) {',
    broken: "if (isBlank('x')) {",
  },
  {
    number: 'T112',
    file: 'server/tools/builtin/database-worker.ts',
    code: 'if (isReadable(table, database, within)) return constants.SQLITE_OK;',
    broken: 'return constants.SQLITE_OK;',
  },
  {
    number: 'T113',
    file: 'server/tools/builtin/database-query.ts',
    code: "  signal.addEventListener('abort', kill, { once: true });\n",
    broken: '',
  },
  {
    number: 'T114',
    file: 'server/tools/builtin/calculate.ts',
    code: '  if (!operator) {\n    throw',
    broken: '  if (!operator) return 0;\n  if (!operator) {\n    throw',
  },
  {
    number: 'T115',
    file: 'server/tools/builtin/calculate.ts',
    code: 'if (deepestBracket(expression) > MAX_DEPTH) throw tooDeep();',
    broken: '',
  },
  {
    number: 'T116',
    file: 'server/tools/workspace/run-program.ts',
    code: '  const end = () => endGroup(child);',
    broken: '  const end = () => undefined;',
  },
  {
    number: 'T117',
    file: 'server/runs/agent/turn-ending.ts',
    code: '  if (!spent) return undefined;',
    broken: '  return undefined;',
  },
];
