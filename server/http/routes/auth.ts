import { HttpError } from '#lib/protocol/http-error';
import { okSchema, signedInSchema, signInBodySchema } from '#lib/protocol/rest';
import { meSchema, type WireMe } from '#lib/protocol/token';
import {
  asPerson,
  byCaller,
  type Caller,
  FIRST_OPERATOR,
  tooManyAttempts,
} from '../../auth/room.ts';
import { EVERYONE, VIEWERS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { json, OK } from '../response.ts';
import { type Route, routesOf } from '../route.ts';

const route = routesOf('signing in');
/** A stranger may send no more: a larger body would have a part of the room of all. */
const MOST_BYTES = 4 * 1024;

export const authRoutes = (deps: HttpDeps): Route[] => [
  route('POST', '/auth/sign-in', {
    id: 'signIn',
    summary:
      "Sign in with the operator's token, or with the code of a one-time link, which works once, within ten minutes; sets the cookie, and returns the key that has to be sent with it as X-Callboard-Session",
    access: 'public',
    body: signInBodySchema,
    maxBodyBytes: MOST_BYTES,
    responses: { 200: { description: 'Signed in', schema: signedInSchema } },
    async handle({ body, context: { address, isSecure } }) {
      // Checked first: the right one is let in, however often others of this address were wrong.
      const person =
        'token' in body
          ? asPerson(deps.tokens.find(body.token))
          : deps.signInCodes.consume(body.code) && FIRST_OPERATOR;
      if (!person) throw await refusal(deps, address);
      const { cookie, key } = await deps.sessions.signIn(person.tokenId, isSecure);
      const detail = { with: 'token' in body ? 'token' : 'link' };
      await deps.audit.record(byCaller(person, address, { act: 'signed_in', detail }));
      const headers = { 'set-cookie': cookie };
      return { status: 200, json: { ok: true, session_key: key }, headers };
    },
  }),
  route('POST', '/auth/sign-out', {
    id: 'signOut',
    summary: 'End this sign-in and close its sockets and streams',
    access: VIEWERS,
    responses: { 200: { description: 'Signed out', schema: okSchema } },
    async handle({ principal, context: { address, isSecure } }) {
      const sessionId = principal.kind === 'operator' ? principal.sessionId : null;
      if (sessionId === null) return json(200, OK);
      const headers = { 'set-cookie': await deps.sessions.signOut(sessionId, isSecure) };
      await deps.audit.record(byCaller(principal, address, { act: 'signed_out' }));
      return { status: 200, json: OK, headers };
    },
  }),
  route('GET', '/v1/me', {
    id: 'getMe',
    summary: 'Who makes this request: kind, name, and what its token allows',
    access: EVERYONE,
    answers: ['The caller', meSchema],
    handle: ({ principal }) => toWireMe(principal),
  }),
];

const toWireMe = (caller: Caller): WireMe => ({
  kind: caller.kind,
  name: caller.kind === 'device' ? caller.clientId : caller.name,
  role: caller.kind === 'operator' ? caller.role : null,
  tools: caller.kind === 'agent' ? [...caller.tools] : null,
  client_id: caller.kind === 'device' ? caller.clientId : null,
  token_id: caller.tokenId,
});

async function refusal(deps: HttpDeps, address: string): Promise<HttpError> {
  const retryAfter = await deps.failedAttempts.count(address);
  if (retryAfter !== undefined) return tooManyAttempts(retryAfter);
  return new HttpError(
    'unauthenticated',
    'This is not the token of this server, or the link was used or has expired. The server prints a sign-in link when it starts.',
  );
}
