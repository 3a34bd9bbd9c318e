import { type ServerMessage, serverMessageSchema } from '../protocol/server-messages.ts';

/** A frame as a message; undefined for what this client does not know (CL14). */
export function parseServerMessage(data: unknown): ServerMessage | undefined {
  if (typeof data !== 'string') return undefined;
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch {
    return undefined; // Not JSON: nothing that a later protocol would send either.
  }
  const parsed = serverMessageSchema.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}
