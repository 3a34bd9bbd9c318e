const PREFIX = 'operator:';

/** A person's own name, of the name of a principal; any other name as it is. */
export const personName = (principal: string): string =>
  principal.startsWith(PREFIX) ? principal.slice(PREFIX.length) : principal;
