import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCResultResponse,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/client';
import { isRecord } from '#lib/json/is-record';
import { given } from '#lib/util/given';

type Id = string | number;

/** The requests of the handshake that are not answered yet: their results have a form that counts. */
export type Handshake = Set<Id>;

/** That are one message, or stand in one line: each takes long, and nothing comes between them. */
const MOST_AT_ONCE = 1_000;

const INTERNAL_ERROR = -32_603;

const isId = (id: unknown): id is Id => typeof id === 'string' || Number.isSafeInteger(id);

/**
 * Makes of what a server sent what the protocol package takes: that one refuses a message whole for one
 * odd field, and a call whose tool has run would be lost with it (rule MC80). A message without fault
 * is the same object. `asked` is the request that the message answers where it does not say so.
 */
export function mendMessages(
  came: unknown,
  handshake: Handshake,
  asked: () => Id | undefined = () => undefined,
): JSONRPCMessage[] {
  const all: unknown[] = Array.isArray(came) ? came.slice(0, MOST_AT_ONCE) : [came];
  return all.flatMap((one) => (isRecord(one) ? (mended(one, handshake, asked) ?? []) : []));
}

function mended(
  one: Readonly<Record<string, unknown>>,
  handshake: Handshake,
  asked: () => Id | undefined,
): JSONRPCMessage | undefined {
  const { method, result, error } = one;
  // Some name the method of the request in its answer.
  const isAnswer = (result ?? error ?? null) !== null;
  if (typeof method === 'string' && !isAnswer) return mendedMethod(one, method);
  if (isFit(one) && !handshake.has(one.id)) return one;
  const id = isId(one.id) ? one.id : asked();
  if ((result ?? null) === null && error) return { ...mendedError(error), ...given({ id }) };
  if (id === undefined || result === undefined) return undefined;
  const fields = withoutOddMeta(isRecord(result) ? result : { content: result });
  return { jsonrpc: '2.0', id, result: handshake.has(id) ? mendedHandshake(fields) : fields };
}

/** The package takes these fields alone. */
const isFit = (one: Readonly<Record<string, unknown>>): one is JSONRPCResultResponse =>
  one.jsonrpc === '2.0' &&
  isId(one.id) &&
  isRecord(one.result) &&
  withoutOddMeta(one.result) === one.result &&
  Object.keys(one).length === 3;

function withoutOddMeta(fields: Record<string, unknown>): Record<string, unknown> {
  const { _meta, ...rest } = fields;
  return _meta === undefined || isRecord(_meta) ? fields : rest;
}

/** Where the message is "Internal error", why is beside it. */
function mendedError(error: unknown): JSONRPCErrorResponse {
  const { code, message, data } = isRecord(error) ? error : { code: undefined, message: error };
  const parts = [message, data].filter(Boolean);
  const texts = parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part)));
  const reason = (texts.join(': ') || JSON.stringify(error)).slice(0, 2_000);
  const own = Number.isSafeInteger(code) ? Number(code) : INTERNAL_ERROR;
  return { jsonrpc: '2.0', error: { code: own, message: reason, ...given({ data }) } };
}

function mendedMethod(
  { id, params }: Readonly<Record<string, unknown>>,
  method: string,
): JSONRPCMessage {
  const kept = withoutOddMeta(isRecord(params) ? params : {});
  const message = { jsonrpc: '2.0' as const, method, params: kept };
  return isId(id) ? { ...message, id } : message;
}

/** Keeps what is read here of `initialize` and `server/discover`; what is odd is left out. */
function mendedHandshake(result: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { _meta, serverInfo, instructions, protocolVersion, supportedVersions } = result;
  const { name, version } = isRecord(serverInfo) ? serverInfo : {};
  const text = (value: unknown) => (typeof value === 'object' ? '' : String(value ?? ''));
  const isText = (value: unknown) => typeof value === 'string';
  return {
    ...given({ _meta }),
    resultType: 'complete',
    capabilities: mendedCapabilities(result.capabilities),
    // One that names a version that does not exist has taken the one that it was asked in.
    protocolVersion: isKnown(protocolVersion) ? protocolVersion : SUPPORTED_PROTOCOL_VERSIONS[0],
    serverInfo: { name: text(name), version: text(version) },
    ...(isText(instructions) && { instructions }),
    ...(Array.isArray(supportedVersions) && {
      supportedVersions: supportedVersions.filter(isText),
    }),
  };
}

const isKnown = (version: unknown): boolean =>
  typeof version === 'string' && SUPPORTED_PROTOCOL_VERSIONS.includes(version);

/** Tools alone are used. */
function mendedCapabilities(given: unknown): { tools?: { listChanged: boolean } } {
  const tools = isRecord(given) ? given.tools : undefined;
  if (tools === undefined || tools === null || tools === false) return {};
  return { tools: { listChanged: isRecord(tools) && tools.listChanged === true } };
}
