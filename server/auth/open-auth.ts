import type { Store } from '../store/room.ts';
import { openAudit } from './audit.ts';
import { type Callers, createCallers, createCredentials } from './credentials.ts';
import { createFailedAttempts } from './failed-attempts.ts';
import { createHostGate, type HostGateOptions } from './host-gate.ts';
import { loadInstanceId } from './instance-id.ts';
import { createTokenCheck, loadOperatorToken } from './operator-token.ts';
import { knownSecrets, newSecret } from './secrets.ts';
import { Sessions, type SessionsDeps } from './sessions.ts';
import { createSignInCodes } from './sign-in-codes.ts';
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

/** Who may come, as an earlier server left it: tokens and sign-ins; and what people did. */
export async function openAuth(
  { dataDir }: { readonly dataDir: string },
  deps: Omit<TokensDeps & SessionsDeps, 'newSecret' | 'instanceId' | 'store'> & { store: Store },
) {
  const tokens = new Tokens({ ...deps, newSecret });
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
  readonly operator: { readonly token: string };
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  /** Of devices that are pages of other origins. */
  readonly origins: { originOf(tokenId: string): string | null };
}

/** Who asks, and whether the host that is asked is ours. */
export function createAccess({ file }: AccessConfig, deps: AccessDeps) {
  const { clock, operator, tokens, sessions, origins } = deps;
  const callers: Callers = createCallers(createTokenCheck(operator.token), tokens);
  const hostGate = createHostGate({
    ...deps,
    allowedHosts: file.allowed_hosts,
    allowedOrigins: file.allowed_origins,
  });
  const failedAttempts = createFailedAttempts(clock);
  const credentials = createCredentials({
    callers,
    sessions,
    failedAttempts,
    origins: { isForeign: hostGate.isForeignPage, originOf: origins.originOf },
  });
  const signInCodes = createSignInCodes({ clock, newSecret });
  return { callers, hostGate, failedAttempts, credentials, signInCodes };
}
