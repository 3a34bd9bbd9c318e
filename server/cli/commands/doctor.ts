import { describeEnd } from '../../store/integrity/describe-end.ts';
import { rebuildStore, StoreNotRebuiltError } from '../../store/integrity/rebuild-store.ts';
import type { Command, Context } from '../command.ts';
import { findAddress, trustAuthority } from '../connect.ts';
import {
  type Check,
  checkDataDir,
  checkDisk,
  checkNode,
  checkPort,
  type Finding,
} from '../doctor/machine.ts';
import { checkAccess, checkAddresses, checkServer } from '../doctor/server.ts';
import { CliError, EXIT_CODES, type ExitName } from '../exit-codes.ts';

const CHECKS: readonly Check[] = [
  checkNode,
  checkDataDir,
  checkDisk,
  checkPort,
  checkServer,
  checkAddresses,
  checkAccess,
];

export const doctorCommand: Command = {
  name: 'doctor',
  parameters: '',
  summary: 'Examine the machine and the server: what fails, and what mends it',
  counts: [0, 0],
  options: {
    rebuild: {
      type: 'boolean',
      text: 'examine nothing; with the server stopped, make lists, words and counts of calls anew from their log',
    },
  },
  notes: ['It exits with 1 when a step failed; warnings alone are 0.'],
  async run(context) {
    if (context.flag('rebuild')) return rebuild(context);
    const dataDir = context.dataDir();
    const url = addressOf(context);
    if (url !== undefined) trustAuthority(context, url, dataDir);
    const findings: Finding[] = [];
    for (const check of CHECKS) {
      const found = await check({ context, dataDir, url });
      for (const finding of found) printFinding(context, finding);
      findings.push(...found);
    }
    const isFailed = findings.some(({ state }) => state === 'failed');
    context.out.document({ ok: !isFailed, findings });
    context.out.line(isFailed ? 'Something failed; mend it from the top.' : 'Nothing failed.');
    return isFailed ? 'failed' : 'ok';
  },
};

function rebuild({ out, dataDir }: Context): ExitName {
  // It answers nothing while it works, and may end at any moment: nothing is in place before it is whole.
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  try {
    const file = rebuildStore({ dir: dataDir().dir, report: (line) => out.note(line) });
    out.document({ file });
    out.line(`What follows from the log of calls is made anew in ${file}.`);
    return 'ok';
  } catch (error) {
    const { code, line } = describeEnd(error, [StoreNotRebuiltError]);
    if (line === undefined) throw error;
    const names = Object.keys(EXIT_CODES) as ExitName[];
    throw new CliError(names.find((name) => EXIT_CODES[name].code === code) ?? 'failed', line);
  }
}

/** Undefined where none is known: that is a finding, not the end. */
function addressOf(context: Context): URL | undefined {
  try {
    return findAddress(context).url;
  } catch (error) {
    if (error instanceof CliError && error.exit === 'unreachable') return undefined;
    throw error;
  }
}

const SIGNS = { ok: 'ok      ', warning: 'WARNING ', failed: 'FAILED  ', skipped: 'skipped ' };

function printFinding({ out }: Context, { step, state, text, mend }: Finding): void {
  out.line(`${SIGNS[state]} ${step}: ${text}`);
  if (mend !== undefined) out.line(`          -> ${mend}`);
}
