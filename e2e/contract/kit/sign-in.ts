import { z } from 'zod';
import type { Callboard } from '../../start-callboard.ts';
import { type Answered, ask, post } from './ask.ts';

/** `name=value` of the cookie that an answer set; undefined when it set none. */
export function cookieOf(answer: Answered): string | undefined {
  const [line] = [answer.headers['set-cookie'] ?? []].flat();
  return line?.split(';', 1)[0];
}

/** A sign-in of a person: the cookie that the browser sends, and the key that only our origin has. */
export interface Session {
  readonly cookie: string;
  readonly key: string;
}

const signedInSchema = z.object({ session_key: z.string() });

/** It reads the session that an answer to a sign-in gave, and throws when it gave none. */
export function sessionOf(answer: Answered): Session {
  const cookie = cookieOf(answer);
  const body = signedInSchema.safeParse(answer.body);
  if (cookie === undefined || !body.success) throw new Error(`${answer.status} ${answer.text}`);
  return { cookie, key: body.data.session_key };
}

/** Signs in as the page does. */
export async function signIn(board: Callboard): Promise<Session> {
  return sessionOf(await post(board, '/auth/sign-in', { token: board.token }, { token: null }));
}

/** Opens a one-time link as the page under it does. */
export const openLink = (board: Callboard, url: string): Promise<Answered> =>
  post(board, '/auth/sign-in', { code: new URL(url).pathname.split('/').pop() }, { token: null });

/** Our page sends these with a request. */
export const pageHeaders = (board: Callboard, { cookie, key }: Session) => ({
  cookie,
  'x-callboard-session': key,
  origin: board.url,
});

/** Our page opens a socket with these. */
export const pageSocket = (board: Callboard, { cookie, key }: Session) => ({
  token: null,
  headers: { cookie, origin: board.url },
  protocols: ['callboard.v1', `session.${key}`],
});

/** A request as a signed-in page of this server makes it. */
export const askAsPage = (
  board: Callboard,
  method: string,
  path: string,
  { session, body, headers = {} }: { session: Session; body?: unknown; headers?: object },
) =>
  ask(board, method, path, {
    token: null,
    headers: { ...pageHeaders(board, session), ...headers },
    ...(body === undefined ? {} : { body }),
  });
