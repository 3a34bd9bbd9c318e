export const LONGEST_TOOL_NAME = 64;

/** Names a tool may have (contract, section 5): ASCII only, so that no look-alike passes. */
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Names that mean something to JavaScript objects; refused so that no lookup can fail on them. */
const OBJECT_NAMES = new Set(['constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty']);

export const isToolName = (name: unknown): name is string =>
  typeof name === 'string' && TOOL_NAME.test(name) && !OBJECT_NAMES.has(name);

/**
 * The spelling a model's API accepts (`[A-Za-z0-9_-]{1,64}`). Two names with
 * one spelling collide, which is why the server reserves both.
 */
export const toModelName = (name: string): string => name.replaceAll('.', '_');

/** Equal for names that people and models take for one: case, and what a model's API cannot spell. */
export const spellingOf = (name: string): string => toModelName(name).toLowerCase();

/** In place of a client: each of the clients that offer the tool is asked. No client is named so. */
export const ALL_CLIENTS = 'all';

/** In any case, so that a person who reads it takes it for nothing else. */
export const isAllClients = (clientId: string): boolean => clientId.toLowerCase() === ALL_CLIENTS;

/** `name@client` always means that client's tool; a plain name means any client that serves it. */
export function parseToolReference(reference: string): { name: string; clientId?: string } {
  const at = reference.indexOf('@');
  if (at < 0) return { name: reference };
  return { name: reference.slice(0, at), clientId: reference.slice(at + 1) };
}
