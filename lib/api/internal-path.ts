/** Any origin will do: it only serves to check that a path stays on it. */
const HERE = 'http://here.invalid';

/** A path on this very site, or `/`. A link to the sign-in page must not lead elsewhere. */
export function toInternalPath(wanted: unknown): string {
  // `new URL` drops tabs and line breaks and takes `\` for `/`, as browsers do: so check its result.
  if (typeof wanted !== 'string' || !wanted.startsWith('/') || !URL.canParse(wanted, HERE)) {
    return '/';
  }
  const url = new URL(wanted, HERE);
  // `/.//elsewhere` becomes `//elsewhere`, which a browser takes for another host.
  const stays = url.origin === HERE && !url.pathname.startsWith('//');
  return stays ? url.pathname + url.search + url.hash : '/';
}
