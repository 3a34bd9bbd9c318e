import { type ClientMessage, clientMessageSchema } from '#lib/protocol/client-messages';
import { LIMITS } from '#lib/protocol/limits';
import { parseJson } from '#lib/schema/parse-json';

export type ParsedFrame =
  | { readonly ok: true; readonly message: ClientMessage }
  | { readonly ok: false; readonly message: string; readonly id: string | undefined };

/** The one place where a client's text becomes a message. Total: it never throws. */
export function parseClientFrame(text: string): ParsedFrame {
  const parsed = parseJson(text, { maxDepth: LIMITS.jsonDepth, maxNodes: LIMITS.jsonNodes });
  if (!parsed.ok) return { ok: false, message: parsed.message, id: undefined };
  const checked = clientMessageSchema.safeParse(parsed.value);
  if (checked.success) return { ok: true, message: checked.data };
  const [issue] = checked.error.issues;
  const where = issue?.path.join('.') || 'the message';
  return {
    ok: false,
    message: `${where}: ${issue?.message ?? 'is not a message of this protocol'}`,
    id: idOf(parsed.value),
  };
}

/** So that a client can tell which of its messages was not understood. */
function idOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value)) return undefined;
  return typeof value.id === 'string' && value.id.length <= 128 ? value.id : undefined;
}
