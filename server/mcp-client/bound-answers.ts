import type { Transport } from '@modelcontextprotocol/client';

/** What a server may ask for is refused in any case, but for a sign of life. */
const MOST_OPEN = 8;

const TOO_MANY = `The server asked for something while ${MOST_OPEN} answers to it were on their way; it gets none.`;

/** A server that asks without an end, and reads no answer, does not fill the memory with answers (rule MC74). */
export function boundAnswers(transport: Transport): void {
  const send = transport.send.bind(transport);
  let open = 0;
  transport.send = async (message, options) => {
    if ('method' in message) return send(message, options);
    if (open >= MOST_OPEN) throw new Error(TOO_MANY);
    open += 1;
    try {
      await send(message, options);
    } finally {
      open -= 1;
    }
  };
}
