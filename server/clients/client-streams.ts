import type { ServerResponse } from 'node:http';
import { splitArray, splitObject } from '#lib/json/split-json';
import { HttpError } from '#lib/protocol/http-error';
import { LIMITS } from '#lib/protocol/limits';
import { STREAM_LIMITS } from '#lib/protocol/stream';
import { type Caller, principalKey } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import { EventStream, type InboundSocket } from '../sockets/room.ts';
import type { ClientConnection, OpenConnection } from './client-connection.ts';

/** Messages of one request, each as its own text: one that cannot be read takes no other with it. */
interface Batch {
  readonly seq: number;
  readonly messages: readonly string[];
}

const MOST_FIELDS = 16;

/** Total: undefined for what is no batch. */
function readBatch(text: string): Batch | undefined {
  const fields = splitObject(text, MOST_FIELDS);
  const seq = fields?.get('seq')?.trim() ?? '';
  const messages = splitArray(fields?.get('messages') ?? '', STREAM_LIMITS.messages);
  if (!/^[1-9]\d{0,14}$/.test(seq) || !messages) return undefined;
  return { seq: Number(seq), messages };
}

export type ClientStreams = ReturnType<typeof createClientStreams>;

interface ClientStreamsDeps {
  readonly openConnection: OpenConnection;
  readonly clock: Pick<Clock, 'schedule'>;
  newSecret(): string;
}

/** The open streams. A stream's id is a secret, and of use to the principal that opened it alone. */
export function createClientStreams({ openConnection, clock, newSecret }: ClientStreamsDeps) {
  const streams = new Map<string, { readonly holder: string; readonly stream: ClientStream }>();
  return {
    /** Takes the response over until it closes. */
    open(principal: Caller, outgoing: ServerResponse) {
      const id = newSecret();
      const stream = new ClientStream(openConnection, clock, principal, outgoing);
      streams.set(id, { holder: holderOf(principal), stream });
      outgoing.once('close', () => streams.delete(id));
      stream.begin(id);
      return stream;
    },
    /** Gives nothing as well for a stream of another principal. */
    find(principal: Caller, id: string) {
      const found = streams.get(id);
      return found?.holder === holderOf(principal) ? found.stream : undefined;
    },
  };
}

/** Two sign-ins by one token have streams of their own. */
const holderOf = (principal: Caller): string => {
  const session = principal.kind === 'operator' ? principal.sessionId : null;
  return JSON.stringify([principal.kind, principalKey(principal), session]);
};

/** One client's messages: out as events of a response, in by requests, one after the other. */
export class ClientStream {
  readonly #line: EventStream;
  readonly #connection: ClientConnection;
  #onArriving = () => {};
  /** The number of the newest request that was taken, and when its messages are handled. */
  #seq = 0;
  #handled: Promise<void> = Promise.resolve();
  #isHandling = false;
  #onResume = () => {};

  constructor(
    openConnection: OpenConnection,
    clock: Pick<Clock, 'schedule'>,
    principal: Caller,
    outgoing: ServerResponse,
  ) {
    this.#line = new EventStream(outgoing, clock);
    this.#connection = openConnection({
      principal,
      line: this.#line,
      // Not the response itself: Node would write its end before what it has gathered.
      corked: outgoing.socket ?? outgoing,
      inbound: this.#inbound(),
    });
    outgoing.once('close', () => {
      this.#connection.closed();
      this.#onResume();
    });
  }

  begin(streamId: string): void {
    const { messages, bytes } = STREAM_LIMITS;
    const limits = { ...LIMITS, requestBytes: bytes, requestMessages: messages };
    this.#line.open({ stream_id: streamId, limits });
  }

  /** Bytes of a request come in. */
  arriving(): void {
    this.#onArriving();
  }

  close(code: number, reason: string): void {
    this.#line.close(code, reason);
  }

  /** Resolves with the number of the request when its messages are handled. Sent again, it is not handled again. */
  async take(text: string): Promise<number> {
    const batch = readBatch(text);
    if (!batch) throw new HttpError('bad_request', NO_BATCH);
    const { seq } = batch;
    const expected = this.#seq + 1;
    // The response to it was lost.
    if (seq < expected) await this.#handled;
    else if (seq > expected) throw new HttpError('conflict', outOfOrder(seq, expected));
    else if (this.#isHandling) throw new HttpError('conflict', TWO_AT_ONCE);
    else {
      this.#seq = seq;
      this.#handled = this.#handle(batch.messages);
      await this.#handled;
    }
    if (this.#line.readyState !== this.#line.OPEN) throw new HttpError('not_found', HAS_ENDED);
    return seq;
  }

  async #handle(messages: readonly string[]): Promise<void> {
    this.#isHandling = true;
    this.#connection.showsLife();
    for (const message of messages) this.#connection.receive(message);
    if (this.#line.isPaused) {
      await new Promise<void>((resolve) => {
        this.#onResume = resolve;
      });
    }
    this.#isHandling = false;
  }

  /** Where a socket would not be read, the response to the request is delayed: its client sends no other meanwhile. */
  #inbound(): InboundSocket {
    return {
      pause: () => {
        this.#line.isPaused = true;
      },
      resume: () => {
        this.#line.isPaused = false;
        this.#onResume();
      },
      // The request holds its bytes until it has its response.
      hold: () => () => {},
      onArriving: (listener) => {
        this.#onArriving = listener;
      },
    };
  }
}

const NO_BATCH = `The body must be {"seq": 1, "messages": [...]}: seq counts the requests of this stream from 1, and messages has at most ${STREAM_LIMITS.messages}.`;

const TWO_AT_ONCE = 'The request before this one has no response yet. Send one at a time.';

const HAS_ENDED = 'The stream has ended. Open a new one with GET /internal/stream.';

const outOfOrder = (seq: number, expected: number): string =>
  `The request has seq ${seq}, and ${expected} is next. Send what is missing first, or open a new stream.`;
