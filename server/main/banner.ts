import type { Reach } from '#lib/protocol/reach';

export interface BannerFacts {
  readonly url: string;
  readonly reach: Reach;
  readonly signInUrl: string;
  readonly dataDir: string;
  /** Where the operator's token is to be found. */
  readonly token: string;
  /** How large the history is, and how long it is kept. */
  readonly history: string;
  /** `CALLBOARD_MODEL` is set. */
  readonly isModelSet: boolean;
  readonly models: {
    readonly defaultModel: string;
    /** Why the server behind `OPENAI_BASE_URL` has no models, or what the default lacks. */
    readonly trouble: { readonly message: string } | undefined;
  };
}

/** A start prints where to go, what is used, and how to stop. */
export function formatBanner(facts: BannerFacts): string {
  const { url, signInUrl, dataDir, token, history } = facts;
  return [
    `Callboard is ready: ${url}`,
    `  Sign in (once):  ${signInUrl}`,
    ...reachLines(facts.reach),
    `  Data directory:  ${dataDir}`,
    `  Operator token:  ${token}`,
    `  History:         ${history}`,
    `  Model:           ${modelLabel(facts)}`,
    '  Stop:            Ctrl+C',
    '',
  ].join('\n');
}

/** The same for programs, in one line. `phones`: origins, most likely first. */
export function bannerJson({ url, reach, signInUrl, dataDir, models }: BannerFacts): string {
  const phones = reach.addresses.filter(({ from }) => from !== 'this_machine');
  const facts = {
    url,
    sign_in_url: signInUrl,
    data_dir: dataDir,
    model: models.defaultModel,
    phones: phones.map(({ origin }) => origin),
    ca_sha256: reach.ca?.fingerprint ?? null,
  };
  return `${JSON.stringify(facts)}\n`;
}

/** For what is set and does not work it names the fault; it never asks for what is set. */
function modelLabel({ isModelSet, models }: BannerFacts): string {
  const { defaultModel, trouble } = models;
  if (defaultModel === 'rehearsal') {
    return isModelSet
      ? 'rehearsal (not an LLM; CALLBOARD_MODEL names it)'
      : 'rehearsal (not an LLM; set OPENAI_API_KEY or OPENAI_BASE_URL for one)';
  }
  const name = defaultModel === 'compatible' ? 'none yet' : defaultModel;
  return trouble === undefined ? name : `${name}. ${trouble.message}`;
}

/** A machine may have many addresses; the rest is in `GET /v1/reach`. */
const MOST_LINKS = 4;

/** The links for phones, what they need first, and what everyone can read. */
function reachLines({ addresses, ca, plaintext }: Reach): string[] {
  const links = addresses.filter(({ from }) => from !== 'this_machine').slice(0, MOST_LINKS);
  const phones = links.map(({ origin }, at) =>
    at === 0 ? `  For phones:      ${origin}` : `                   ${origin}`,
  );
  const trust = ca && links[0] ? [`  Trust the CA:    ${links[0].origin}${ca.page}`] : [];
  const fingerprint = ca ? [`  Its SHA-256:     ${ca.fingerprint}`] : [];
  const danger = plaintext
    ? [
        '  WARNING:         no TLS: everyone on the network can read tokens, calls and results;',
        '                   camera, position, clipboard and notifications do not work there.',
      ]
    : [];
  return [...phones, ...trust, ...fingerprint, ...danger];
}

/** The address for a browser at this machine. */
export function ownAddress({ addresses }: Reach): string {
  const own = addresses.find(({ from }) => from === 'this_machine') ?? addresses[0];
  return own?.origin ?? '';
}
