/** Who is asking, from the server's own record alone; nothing a client sends adds to it. */
export type Principal =
  | { readonly kind: 'operator'; readonly sessionId: string | null }
  | { readonly kind: 'agent'; readonly name: string; readonly tools: readonly string[] }
  | { readonly kind: 'device'; readonly clientId: string };

/** The caller of a public route, whose credential was not looked at. No service accepts it. */
export const ANONYMOUS = { kind: 'anonymous' } as const;
export type Anonymous = typeof ANONYMOUS;

export function principalName(principal: Principal): string {
  switch (principal.kind) {
    case 'operator':
      return 'operator';
    case 'agent':
      return `agent:${principal.name}`;
    case 'device':
      return `device:${principal.clientId}`;
  }
}
