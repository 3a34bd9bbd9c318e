import { HttpError } from '#lib/protocol/http-error';
import { okSchema, signInBodySchema } from '#lib/protocol/rest';
import { tooManyAttempts } from '../../auth/credentials.ts';
import { type Answer, json } from '../answer.ts';
import type { HttpDeps } from '../http-deps.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { OPERATORS } from './access.ts';

type Deps = Pick<HttpDeps, 'sessions' | 'signInCodes' | 'failedAttempts' | 'isOperatorToken'>;

const tag = 'signing in';

export const authOperations = (deps: Deps): Operation[] => [
  defineOperation({
    method: 'POST',
    path: '/auth/sign-in',
    id: 'signIn',
    tag,
    summary: "Sign in with the operator's token; sets the cookie",
    access: 'open',
    body: signInBodySchema,
    answers: { 200: { description: 'Signed in', schema: okSchema } },
    async handle({ body, exchange: { address } }) {
      await refuseLocked(deps, address);
      if (!deps.isOperatorToken(body.token)) throw await wrongToken(deps, address);
      return withCookie(await deps.sessions.signIn());
    },
  }),
  defineOperation({
    method: 'POST',
    path: '/auth/sign-out',
    id: 'signOut',
    tag,
    summary: 'End this sign-in and close its sockets',
    access: OPERATORS,
    answers: { 200: { description: 'Signed out', schema: okSchema } },
    async handle({ principal }) {
      const sessionId = principal.kind === 'operator' ? principal.sessionId : null;
      return sessionId === null
        ? json(200, { ok: true })
        : withCookie(await deps.sessions.signOut(sessionId));
    },
  }),
  defineOperation({
    method: 'GET',
    path: '/sign-in/:code',
    id: 'openSignInLink',
    tag,
    summary: 'Open a one-time sign-in link: it works once, within ten minutes',
    access: 'open',
    answers: { 303: { description: 'To the workbench, or back to the sign-in page' } },
    async handle({ params, exchange: { address, incoming } }) {
      // Link previews ask with HEAD; only opening the link may use it up.
      if (incoming.method !== 'GET') throw new HttpError('method_not_allowed', 'Use GET.');
      await refuseLocked(deps, address);
      if (deps.signInCodes.consume(params.code)) {
        return redirect('/', { 'set-cookie': await deps.sessions.signIn() });
      }
      await deps.failedAttempts.count(address);
      return redirect('/sign-in?expired=1');
    },
  }),
];

const withCookie = (cookie: string): Answer => ({
  status: 200,
  json: { ok: true },
  headers: { 'set-cookie': cookie },
});

const redirect = (location: string, headers: Record<string, string> = {}): Answer => ({
  status: 303,
  body: '',
  headers: { location, 'referrer-policy': 'no-referrer', ...headers },
});

async function refuseLocked(deps: Deps, address: string): Promise<void> {
  const retryAfter = await deps.failedAttempts.lockedFor(address);
  if (retryAfter !== undefined) throw tooManyAttempts(retryAfter);
}

async function wrongToken(deps: Deps, address: string): Promise<HttpError> {
  const retryAfter = await deps.failedAttempts.count(address);
  if (retryAfter !== undefined) return tooManyAttempts(retryAfter);
  return new HttpError(
    'unauthenticated',
    "That is not this server's token. The server prints a sign-in link when it starts.",
  );
}
