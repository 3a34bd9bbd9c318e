import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createFixture } from './fixture-server.ts';

/** The fixture as a program: `node fixture-program.ts [legacy|modern] [tools file]`. */
const [, , era = 'modern', toolsFile] = process.argv;
process.stderr.write(`started with ${Object.keys(process.env).sort().join(' ')}\n`);
if (era === 'legacy') await createFixture({ toolsFile }).connect(new StdioServerTransport());
else serveStdio(() => createFixture({ toolsFile }));
