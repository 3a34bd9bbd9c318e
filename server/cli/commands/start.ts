import type { Command } from '../command.ts';
import { CliError } from '../exit-codes.ts';

/** In the table for its help: the launcher runs the server itself, before this program. */
export const startCommand: Command = {
  name: 'start',
  parameters: '',
  summary: 'Start the server with its workbench, until Ctrl+C; data is in ./.callboard',
  counts: [0, 0],
  notes: ['Settings are environment variables, such as CALLBOARD_PORT; the README has them all.'],
  async run() {
    throw new CliError('failed', 'the server is started by the program "callboard" alone');
  },
};
