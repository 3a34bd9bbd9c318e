import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { networkInterfaces } from 'node:os';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { keyNameOf } from '#lib/protocol/model-ref';
import { modelsAnswerSchema } from '#lib/protocol/rest';
import { meSchema } from '#lib/protocol/token';
import { errorMessage } from '#lib/util/error-message';
import { CliError } from '../exit-codes.ts';
import {
  type Check,
  type Examined,
  type Finding,
  failed,
  ok,
  skipped,
  warning,
} from './machine.ts';

const LONGEST_MS = 5_000;

interface Probe {
  readonly status: number;
  /** The server's clock says it in whole seconds, where it sends it. */
  readonly date: Date | undefined;
}

/** `GET /healthz` of an address, with a name of its own in `Host`; rejects where no answer comes. */
function probe(url: URL, more: { address?: string; signal: AbortSignal }): Promise<Probe> {
  const isTls = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const options = {
      host: more.address ?? hostOf(url),
      port: portOf(url),
      path: '/healthz',
      headers: { host: url.host },
      // Which certificate it has is examined apart.
      rejectUnauthorized: false,
      signal: AbortSignal.any([more.signal, AbortSignal.timeout(LONGEST_MS)]),
      agent: false as const,
    };
    const answered = (response: IncomingMessage) => {
      response.resume();
      const date = response.headers.date;
      resolve({
        status: response.statusCode ?? 0,
        date: date === undefined ? undefined : new Date(date),
      });
    };
    const request = isTls ? requestHttps(options, answered) : requestHttp(options, answered);
    request.once('error', reject);
    request.end();
  });
}

interface TlsFacts {
  /** Why a client refuses it; undefined: it does not. */
  readonly problem: string | undefined;
  readonly names: string;
  readonly validTo: Date;
  readonly validFrom: Date;
}

/** A handshake, with what this program trusts. */
function probeTls(url: URL, signal: AbortSignal): Promise<TlsFacts> {
  return new Promise((resolve, reject) => {
    const host = hostOf(url);
    const socket: TLSSocket = connectTls(
      // A name is sent; an address must not be.
      {
        host,
        port: portOf(url),
        ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
        rejectUnauthorized: false,
        timeout: LONGEST_MS,
      },
      () => {
        const {
          subjectaltname: names,
          valid_to: to,
          valid_from: from,
        } = socket.getPeerCertificate();
        const problem = socket.authorized ? undefined : String(socket.authorizationError);
        resolve({ problem, names: names ?? '', validTo: new Date(to), validFrom: new Date(from) });
        socket.destroy();
      },
    );
    const end = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.once('error', end);
    socket.once('timeout', () => end(new Error('no handshake within 5 seconds')));
    signal.addEventListener('abort', () => end(new Error('interrupted')), { once: true });
  });
}

/** Without the brackets of IPv6. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

const portOf = ({ port, protocol }: URL): number =>
  Number(port || (protocol === 'https:' ? 443 : 80));

export const checkServer: Check = async (examined) => {
  const { url, dataDir } = examined;
  if (url === undefined) {
    const mend = 'start it with "callboard start", or name one with --url';
    return [failed('server', `no server runs on ${dataDir.dir}`, mend)];
  }
  const answer = await answerOf(examined, url);
  if ('problem' in answer) {
    const mend = 'start it, or mend the address: --url, CALLBOARD_URL';
    return [failed('server', `${url.origin} does not answer: ${answer.problem}`, mend)];
  }
  return [hostFinding(url, answer), clockFinding(answer)];
};

/** The host gate refuses names that are not the server's, with 421. */
function hostFinding({ origin, host }: URL, { status }: Probe): Finding {
  if (status === 200) return ok('server', `${origin} answers`);
  if (status === 421) {
    const mend = `add ${JSON.stringify(host)} to allowed_hosts in callboard.config.json`;
    return failed('host', `the server does not take ${host} as one of its names`, mend);
  }
  const mend = 'look at the address: another program may be there';
  return failed('server', `${origin} answered /healthz with HTTP ${status}`, mend);
}

const MOST_SKEW_S = 5;

/** Certificates, codes and deadlines rest on it. */
function clockFinding({ date }: Probe): Finding {
  if (date === undefined) return skipped('clock', 'the server sent no time');
  const skew = Math.round((date.getTime() - Date.now()) / 1_000);
  const text = `the clock of the server is ${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} the one here`;
  if (Math.abs(skew) <= MOST_SKEW_S) return ok('clock', 'the clocks agree');
  return failed('clock', text, 'set both by NTP: timedatectl set-ntp true');
}

/** Each address of this machine: whether others reach the server by it. */
export const checkAddresses: Check = async (examined) => {
  const { url, dataDir } = examined;
  if (url === undefined || !dataDir.isInUse()) return [];
  const found = await Promise.all(
    outerAddresses().map(async (address) => ({
      address,
      ...(await atAddress(examined, url, address)),
    })),
  );
  const reached = found.filter(({ probed }) => !('problem' in probed));
  if (reached.length === 0) {
    return [
      warning(
        'addresses',
        'only this machine reaches the server: no phone can',
        'start it with --lan, or behind a proxy with TLS, to reach it from a phone',
      ),
    ];
  }
  return reached.flatMap(({ address, at, probed }) => [
    'status' in probed && probed.status === 421
      ? failed(
          'addresses',
          `${at.origin} is reached, and refused by its name`,
          `add ${JSON.stringify(at.host)} to allowed_hosts`,
        )
      : ok('addresses', `${at.origin} is reached from the network`),
    ...secureFinding(address, at),
  ]);
};

function secureFinding(address: string, { protocol }: URL): Finding[] {
  if (protocol === 'https:') return [];
  return [
    warning(
      'secure_context',
      `pages of http://${address} are no secure context: no camera, position, clipboard or notification there`,
      'use TLS: start with --lan, or --cert and --key, or behind a proxy',
    ),
  ];
}

async function atAddress(examined: Examined, url: URL, address: string) {
  const at = new URL(url);
  at.hostname = address.includes(':') ? `[${address}]` : address;
  const probed = await answerOf(examined, at);
  // A server with TLS sends plain HTTP of the network there.
  if ('status' in probed && probed.status === 308) at.protocol = 'https:';
  return { at, probed };
}

const outerAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    // A link-local address needs the name of an interface, which no URL of a browser has.
    .filter(({ internal, address }) => !internal && !/^fe80:/i.test(address))
    .map(({ address }) => address)
    .slice(0, 16);

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

export const checkTls: Check = async ({ url, context }) => {
  if (url?.protocol !== 'https:') return [];
  try {
    const { problem, names, validTo, validFrom } = await probeTls(url, context.signal);
    const until = validTo.toISOString().slice(0, 10);
    if (problem !== undefined) return [failed('tls', tlsText(problem, names), tlsMend(problem))];
    if (validFrom.getTime() > Date.now()) {
      return [
        failed(
          'tls',
          `the certificate is valid from ${validFrom.toISOString()} on`,
          'set the clock',
        ),
      ];
    }
    const daysLeft = Math.floor((validTo.getTime() - Date.now()) / DAY_MS);
    const text = `the certificate is trusted here, for ${names}, until ${until}`;
    return [daysLeft > SOON_DAYS ? ok('tls', text) : warning('tls', text, 'renew it soon')];
  } catch (error) {
    return [
      failed(
        'tls',
        `no handshake: ${errorMessage(error)}`,
        'look whether the server speaks TLS there',
      ),
    ];
  }
};

const tlsText = (problem: string, names: string): string =>
  `the certificate is refused: ${problem}${names === '' ? '' : ` (it is for ${names})`}`;

function tlsMend(problem: string): string {
  if (/ALTNAME/.test(problem)) {
    return 'use a name that is in the certificate, or make one that has this name';
  }
  if (/EXPIRED|NOT_YET/.test(problem)) return 'renew the certificate, and set the clock';
  return 'name its certificate authority with --ca; devices need it installed too';
}

export const checkAccess: Check = async ({ url, context }) => {
  if (url === undefined) return [];
  try {
    const server = context.server();
    const me = await server.get('/v1/me', meSchema, context.signal);
    const { models } = await server.get('/v1/models', modelsAnswerSchema, context.signal);
    return [
      ok('token', `the server accepts the token: ${me.kind} ${me.name}`),
      modelFinding(models),
    ];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const mend = 'give the right one: CALLBOARD_TOKEN, --token, or --data-dir of that server';
    return [failed(error.exit === 'refused' ? 'token' : 'api', error.message, mend)];
  }
};

type Models = ReturnType<typeof modelsAnswerSchema.parse>['models'];

function modelFinding(models: Models): Finding {
  const model = models.find((one) => one.default);
  if (model === undefined || model.rehearsal) {
    const mend = 'set OPENAI_API_KEY or OPENAI_BASE_URL, or leave it for agents of your own';
    return warning('model', 'the model is the rehearsal, which is no LLM', mend);
  }
  if (model.available === false) {
    const text = `the model ${model.model} cannot answer`;
    return model.model.startsWith('compatible')
      ? failed('model', text, 'start the model server, or mend OPENAI_BASE_URL (is /v1 missing?)')
      : failed('model', text, `set ${keyNameOf(model.model)}, and restart the server`);
  }
  return ok('model', `the model is ${model.model}`);
}

async function answerOf({ context }: Examined, url: URL): Promise<Probe | { problem: string }> {
  try {
    return await probe(url, { signal: context.signal });
  } catch (error) {
    if (context.signal.aborted) throw error;
    return { problem: errorMessage(error) };
  }
}
