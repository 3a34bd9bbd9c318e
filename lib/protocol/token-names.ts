/** It is that of a person or a program. */
export const TOKEN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** An entry of an agent's allow-list: a whole name, or a family: `file.*`. */
export const ALLOWED_TOOL = /^[A-Za-z][A-Za-z0-9_.-]{0,63}(?<!\.)(?:\.\*)?$/;

/** Entries of one allow-list. */
export const MOST_ALLOWED = 500;

/** True when an entry of an allow-list is the tool's name, or a family that it is of; never by part of a word. */
export const allowsTool = (entry: string, name: string): boolean =>
  entry === name || (entry.endsWith('.*') && name.startsWith(entry.slice(0, -1)));
