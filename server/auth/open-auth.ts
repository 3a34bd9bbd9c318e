import type { Store } from '../store/room.ts';
import { openAudit } from './audit.ts';
import { createCredentials } from './credentials.ts';
import { createFailedAttempts } from './failed-attempts.ts';
import { createHostGate, type HostGateOptions } from './host-gate.ts';
import {
  createTokenCheck,
  knownSecrets,
  loadInstanceId,
  loadOperatorToken,
  newSecret,
} from './secrets.ts';
import { createSignInCodes, Sessions, type SessionsDeps } from './sessions.ts';
import { Tokens, type TokensDeps } from './tokens.ts';

/** The operator of the first run, and what is secret from the start. Throws `ConfigError`. */
export async function openOperator(config: {
  readonly dataDir: string;
  readonly token: string | undefined;
  readonly secrets: readonly string[];
}) {
  const operator = await loadOperatorToken({ dataDir: config.dataDir, given: config.token });
  return { operator, secrets: knownSecrets(operator.token, config.secrets) };
}

/** Opens the tokens and sign-ins as an earlier server left them, and the audit. */
export async function openAuth(
  { dataDir }: { readonly dataDir: string },
  deps: Omit<TokensDeps & SessionsDeps, 'newSecret' | 'instanceId' | 'store' | 'isFirst'> & {
    readonly store: Store;
    readonly operator: { readonly token: string };
  },
) {
  const isFirst = createTokenCheck(deps.operator.token);
  const tokens = new Tokens({ ...deps, newSecret, isFirst });
  await tokens.load();
  const instanceId = await loadInstanceId(dataDir);
  return {
    tokens,
    sessions: new Sessions({ ...deps, newSecret, instanceId }),
    audit: await openAudit(deps),
  };
}

export interface AccessConfig {
  readonly file: {
    readonly allowed_hosts: readonly string[];
    readonly allowed_origins: readonly string[];
  };
}

export interface AccessDeps
  extends Omit<HostGateOptions, 'allowedHosts' | 'allowedOrigins'>,
    Pick<SessionsDeps, 'clock'> {
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  /** Some devices are pages of other origins. */
  readonly origins: { originOf(tokenId: string): string | null };
}

/** Finds out who asks, and which hosts are ours. */
export function createAccess({ file }: AccessConfig, deps: AccessDeps) {
  const { clock, tokens, sessions, origins } = deps;
  const hostGate = createHostGate({
    ...deps,
    allowedHosts: file.allowed_hosts,
    allowedOrigins: file.allowed_origins,
  });
  const failedAttempts = createFailedAttempts(clock);
  const credentials = createCredentials({
    tokens,
    sessions,
    failedAttempts,
    origins: { isForeign: hostGate.isForeignPage, originOf: origins.originOf },
  });
  const signInCodes = createSignInCodes({ clock, newSecret });
  return { hostGate, failedAttempts, credentials, signInCodes };
}
