import type { Callboard } from '../../start-callboard.ts';
import { type Answered, ask, post } from './ask.ts';

/** `name=value` of the cookie that an answer set; undefined when it set none. */
export function cookieOf(answer: Answered): string | undefined {
  const [line] = [answer.headers['set-cookie'] ?? []].flat();
  return line?.split(';', 1)[0];
}

/** Signs in as the page does; gives the `Cookie` header. */
export async function signIn(board: Callboard): Promise<string> {
  const answer = await post(board, '/auth/sign-in', { token: board.token }, { token: null });
  const cookie = cookieOf(answer);
  if (cookie === undefined) throw new Error(`${answer.status} ${answer.text}`);
  return cookie;
}

/** A request as a signed-in page of this server makes it. */
export const askAsPage = (
  board: Callboard,
  method: string,
  path: string,
  { cookie, body, headers = {} }: { cookie: string; body?: unknown; headers?: object },
) =>
  ask(board, method, path, {
    token: null,
    headers: { cookie, origin: board.url, ...headers },
    ...(body === undefined ? {} : { body }),
  });
