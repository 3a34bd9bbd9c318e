import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { openJournalFile, replaceJournalFile } from './journal-file.ts';

test('[CL22] it goes on where it is told to, and cuts off what is behind', async () => {
  const path = join(tempDir(), 'file');
  await (await replaceJournalFile(path, Buffer.from('one\ntw'))).close();
  const file = await openJournalFile(path, 4);
  await file.append(Buffer.from('two\n'));
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  expect(file.bytes).toBe(8);
  await file.close();
});

/** A real full disk of its own needs a mount; a limit on a file's size gives short writes all the same. */
test.skipIf(process.platform === 'win32')(
  '[CL25] a write that does not fit is refused, and the lines before and after it are whole',
  async () => {
    const path = join(tempDir(), 'file');
    const module = join(import.meta.dirname, 'journal-file.ts');
    const program = `
      const { replaceJournalFile } = await import(${JSON.stringify(module)});
      process.on('SIGXFSZ', () => {});
      const file = await replaceJournalFile(${JSON.stringify(path)}, Buffer.from('first\\n'));
      const refused = await file.append(Buffer.alloc(8_192, 'x')).then(() => 'taken', ({ code }) => code);
      await file.append(Buffer.from('second\\n'));
      console.log(refused, file.bytes);`;
    const command = 'ulimit -f 4; exec "$0" --input-type=module -e "$1"';
    const child = spawn('sh', ['-c', command, process.execPath, program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [sent] = await once(child.stdout, 'data');
    await once(child, 'exit');
    expect(String(sent).trim()).toBe('EFBIG 13');
    expect(readFileSync(path, 'utf8')).toBe('first\nsecond\n');
  },
);
