import type { ApiResult } from '#lib/api/api-result';
import { createApi } from '#lib/api/http-client';
import type { SignedIn, SignInCredential } from '#lib/protocol/rest';
import { keepSessionKey, pageFetch } from '../providers/page-session.ts';

export type SignInWith = (credential: SignInCredential) => Promise<ApiResult<unknown>>;

/** Signs this browser in: the cookie comes by itself, the key is kept. */
export const signInWith: SignInWith = async (credential) => {
  const { request } = createApi({ fetch: pageFetch, baseUrl: '' });
  const sent = { method: 'POST', path: '/auth/sign-in', body: credential } as const;
  const answer = await request<SignedIn>(sent);
  if (!answer.ok || keepSessionKey(answer.value.session_key)) return answer;
  return {
    ok: false,
    code: 'no_storage',
    message: 'The browser keeps nothing for this page.',
    details: [],
    status: 200,
    retryAfter: null,
  };
};
