import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { connectClient, reader } from '../contract/kit/tool-client.ts';
import type { Callboard } from '../start-callboard.ts';

/** Agents call the tools of the desk so: the names have no dots there. */
export const NOTE = 'desk_note';
export const PICTURE = 'desk_picture';

/** Longer than all agents take together. */
const PATIENCE_MS = 3_600_000;

export interface Desk {
  /** Its tools give these; they are made anew in each run, so that no agent has them from elsewhere. */
  readonly note: string;
  /** In base64. */
  readonly picture: string;
  /** Names of tools, in the order in which they were called. */
  readonly called: string[];
  close(): Promise<unknown>;
}

/** A client by WebSocket that offers a tool with a text and one with a picture. */
export async function openDesk(board: Callboard): Promise<Desk> {
  const note = `The note says ${randomBytes(8).toString('hex')}.`;
  const picture = await makePicture();
  const client = await connectClient(board, {
    ...{ hello: { name: 'Desk' }, patienceMs: PATIENCE_MS },
    tools: [
      reader('desk.note', {
        description: 'Reads the note on the desk.',
        // Right, and not what all agents take.
        parameters: { type: 'object', properties: { side: true } },
      }),
      reader('desk.picture', { description: 'Shows the picture on the desk.' }),
    ],
  });
  const called: string[] = [];
  const isOver = client.closed.then(() => undefined);
  const serve = async () => {
    for (;;) {
      const request = await Promise.race([client.request().catch(() => undefined), isOver]);
      if (!request) return;
      called.push(request.name);
      if (request.name === 'desk.note') client.succeed(request.id, note);
      else {
        const attachments = [{ media_type: 'image/png', data: picture }];
        client.succeed(request.id, 'Here it is.', { attachments });
      }
    }
  };
  void serve();
  return { note, picture, called, close: () => client.close() };
}

/** A square of one colour, which is another in each run. */
async function makePicture(): Promise<string> {
  const [r = 0, g = 0, b = 0] = randomBytes(3);
  const create = { width: 64, height: 64, channels: 3 as const, background: { r, g, b } };
  return (await sharp({ create }).png().toBuffer()).toString('base64');
}
