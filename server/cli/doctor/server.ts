import { request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import { networkInterfaces } from 'node:os';
import { TLSSocket } from 'node:tls';
import { keyNameOf } from '#lib/protocol/model-ref';
import { modelsAnswerSchema } from '#lib/protocol/rest';
import { meSchema } from '#lib/protocol/token';
import { errorMessage } from '#lib/util/error-message';
import { CliError } from '../exit-codes.ts';
import { type Check, type Examined, type Finding, found } from './machine.ts';

const LONGEST_MS = 5_000;

/** An answer to `GET /healthz`, and the certificate of the connection that it came by. */
interface Probe {
  readonly status: number;
  /** The server's clock, in whole seconds, where it sends it. */
  readonly date: string | undefined;
  readonly socket: unknown;
}

function answerOf({ context }: Examined, url: URL): Promise<Probe | { problem: string }> {
  const { signal } = context;
  const options: RequestOptions = {
    // The certificate is examined apart, also one that this program refuses.
    rejectUnauthorized: false,
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]),
  };
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const asked = request(new URL('/healthz', url), options, (response) => {
      response.resume();
      const { statusCode: status = 0, headers, socket } = response;
      resolve({ status, date: headers.date, socket });
    });
    asked.once('error', (error) =>
      signal.aborted ? reject(error) : resolve({ problem: errorMessage(error) }),
    );
    asked.end();
  });
}

export const checkServer: Check = async (examined) => {
  const { url, dataDir } = examined;
  if (url === undefined) {
    const mend = 'start it with "callboard start", or name one with --url';
    return [found('server', 'failed', `no server runs on ${dataDir.dir}`, mend)];
  }
  const answer = await answerOf(examined, url);
  if ('problem' in answer) {
    const text = `${url.origin} does not answer: ${answer.problem}`;
    return [found('server', 'failed', text, 'start it, or mend the address: --url, CALLBOARD_URL')];
  }
  return [hostFinding(url, answer), clockFinding(answer), ...tlsFindings(answer)];
};

/** The host gate refuses names that are not the server's, with 421. */
function hostFinding({ origin, host }: URL, { status }: Probe): Finding {
  if (status === 200) return found('server', 'ok', `${origin} answers`);
  if (status === 421) {
    const mend = `add ${JSON.stringify(host)} to allowed_hosts in callboard.config.json`;
    return found('host', 'failed', `the server does not take ${host} as one of its names`, mend);
  }
  const mend = 'look at the address: another program may be there';
  return found('server', 'failed', `${origin} answered /healthz with HTTP ${status}`, mend);
}

const MOST_SKEW_S = 5;

/** Certificates, codes and deadlines rest on it. */
function clockFinding({ date }: Probe): Finding {
  if (date === undefined) return found('clock', 'skipped', 'the server sent no time');
  const skew = Math.round((Date.parse(date) - Date.now()) / 1_000);
  if (Math.abs(skew) <= MOST_SKEW_S) return found('clock', 'ok', 'the clocks agree');
  const text = `the clock of the server is ${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} the one here`;
  return found('clock', 'failed', text, 'set both by NTP: timedatectl set-ntp true');
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

/** By what this program trusts, and for the name by which it was reached. */
function tlsFindings({ socket }: Probe): Finding[] {
  if (!(socket instanceof TLSSocket)) return [];
  const { subjectaltname: names, valid_to: to } = socket.getPeerCertificate();
  if (!socket.authorized) {
    const text = `the certificate for ${names} is refused: ${socket.authorizationError}`;
    const mend =
      'use a name that it has, renew it, or name its certificate authority with --ca; devices need that installed too';
    return [found('tls', 'failed', text, mend)];
  }
  const until = new Date(to);
  const text = `the certificate is trusted here, for ${names}, until ${until.toISOString().slice(0, 10)}`;
  const isFresh = until.getTime() - Date.now() > SOON_DAYS * DAY_MS;
  return [isFresh ? found('tls', 'ok', text) : found('tls', 'warning', text, 'renew it soon')];
}

/** Each address of this machine: whether others reach the server by it. */
export const checkAddresses: Check = async (examined) => {
  const { url, dataDir } = examined;
  if (url === undefined || !dataDir.isInUse()) return [];
  const all = outerAddresses().map((address) => addressFindings(examined, url, address));
  const reached = (await Promise.all(all)).flat();
  if (reached.length > 0) return reached;
  const mend = 'start it with --lan, or behind a proxy with TLS, to reach it from a phone';
  return [
    found('addresses', 'warning', 'only this machine reaches the server: no phone can', mend),
  ];
};

async function addressFindings(
  examined: Examined,
  url: URL,
  address: string,
): Promise<readonly Finding[]> {
  const at = new URL(url);
  at.hostname = address.includes(':') ? `[${address}]` : address;
  const probed = await answerOf(examined, at);
  if ('problem' in probed) return [];
  // A server with TLS sends plain HTTP of the network there.
  if (probed.status === 308) at.protocol = 'https:';
  if (probed.status !== 421)
    return [found('addresses', 'ok', `${at.origin} is reached from the network`)];
  const mend = `add ${JSON.stringify(at.host)} to allowed_hosts`;
  return [found('addresses', 'failed', `${at.origin} is reached, and refused by its name`, mend)];
}

const outerAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    // A link-local address needs the name of an interface, which no URL of a browser has.
    .filter(({ internal, address }) => !internal && !/^fe80:/i.test(address))
    .map(({ address }) => address)
    .slice(0, 16);

export const checkAccess: Check = async ({ url, context }) => {
  if (url === undefined) return [];
  try {
    const server = context.server();
    const me = await server.get('/v1/me', meSchema, context.signal);
    const { models } = await server.get('/v1/models', modelsAnswerSchema, context.signal);
    const text = `the server accepts the token: ${me.kind} ${me.name}`;
    return [found('token', 'ok', text), modelFinding(models)];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const mend = 'give the right one: CALLBOARD_TOKEN, --token, or --data-dir of that server';
    return [found(error.exit === 'refused' ? 'token' : 'api', 'failed', error.message, mend)];
  }
};

type Models = ReturnType<typeof modelsAnswerSchema.parse>['models'];

function modelFinding(models: Models): Finding {
  const chosen = models.find((one) => one.default);
  if (chosen === undefined || chosen.rehearsal) {
    const mend = 'set OPENAI_API_KEY or OPENAI_BASE_URL, or leave it for agents of your own';
    return found('model', 'warning', 'the model is the rehearsal, which is no LLM', mend);
  }
  const { model, available } = chosen;
  if (available !== false) return found('model', 'ok', `the model is ${model}`);
  const mend = model.startsWith('compatible')
    ? 'start the model server, or mend OPENAI_BASE_URL (is /v1 missing?)'
    : `set ${keyNameOf(model)}, and restart the server`;
  return found('model', 'failed', `the model ${model} cannot answer`, mend);
}
