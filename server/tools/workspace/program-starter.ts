/**
 * The process that starts the program of one `shell` call in a PID namespace, of which it is not the
 * first process: for that one signals would have no effect. It reports the end as the system gives
 * it. The program inherits the output, and not the channel.
 */
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import {
  CHANNEL_FD,
  orderSchema,
  type ProgramOrder,
  type ProgramReport,
} from './program-message.ts';

const channel = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
// The server ended, or all is reported: with the first process all of the namespace ends.
channel.on('close', () => process.exit());

let text = '';
channel.setEncoding('utf8').on('data', (chunk: string) => {
  text += chunk;
  if (text.endsWith('\n')) start(orderSchema.parse(JSON.parse(text)));
});

function start({ program, args, cwd, env }: ProgramOrder): void {
  const child = spawn(program, args, {
    cwd,
    shell: false,
    stdio: 'inherit',
    // Next's types ask for NODE_ENV in each environment.
    env: env as NodeJS.ProcessEnv,
  });
  child.on('spawn', () => channel.write(toLine({ kind: 'started' })));
  child.on('error', (error) => {
    const reason = 'code' in error ? String(error.code) : error.message;
    channel.end(toLine({ kind: 'not_started', reason }), () => channel.destroy());
  });
  child.on('exit', (exitCode, endedBy) => {
    channel.end(toLine({ kind: 'ended', exitCode, endedBy }), () => channel.destroy());
  });
}

const toLine = (report: ProgramReport): string => `${JSON.stringify(report)}\n`;
