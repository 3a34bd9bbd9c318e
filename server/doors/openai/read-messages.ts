import { hash } from 'node:crypto';
import { HttpError } from '#lib/protocol/http-error';
import type { ChatCompletionBody, ResponseBody } from '#lib/protocol/openai-api';
import { stripInvisible } from '#lib/text/invisible';
import { type MessageContent, readAsked, readContent } from '../room.ts';

/** A message as far as it is a text; calls of earlier turns are none. */
export interface SentMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** In place of its words: what it was called in an answer. */
  readonly isReference?: true;
  readonly print?: string;
}

/** A program may name the items of an answer in place of its text. */
export const referenceTo = (itemId: string): string => `#${itemId}`;

/** A request has what came before, and the message that is to be answered. */
export interface Conversation {
  readonly instructions: string;
  readonly earlier: readonly SentMessage[];
  readonly newest: string;
  readonly files: MessageContent['files'];
  /** The newest message as the next request repeats it. */
  readonly asked: readonly SentMessage[];
}

type RawMessage = ChatCompletionBody['messages'][number] & { readonly id?: string | undefined };

const REFERENCE = 'item_reference';

export const readChat = ({ messages }: ChatCompletionBody): Conversation => read(messages, '');

export function readResponse(body: ResponseBody): Conversation {
  const { input, instructions, previous_response_id: previous } = body;
  if (previous) throw bad('Answers are not kept under their ids: send the whole input, or a user.');
  const items: Exclude<ResponseBody['input'], string> =
    typeof input === 'string' ? [{ role: 'user', content: input, id: undefined }] : input;
  // A message has a role; items of calls have a type alone.
  const messages = items.map(({ role, type = 'item', ...item }) => ({
    ...item,
    role: role ?? type,
  }));
  return read(messages, instructions ?? '');
}

function read(messages: readonly RawMessage[], given: string): Conversation {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const newest = messages[at];
  if (!newest) throw bad('There is no message with the role "user" to be answered.');
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer');
  const { text, files } = readAsked(newest.content);
  if (files.length === 0 && stripInvisible(text).trim() === '') {
    throw bad('The newest message must have a text, or a file.');
  }
  if (text.length > LONGEST) throw bad(`The newest message has over ${LONGEST} characters.`);
  return {
    instructions: [given, ...system.map(({ content }) => readContent(content).text)]
      .filter(Boolean)
      .join('\n\n'),
    earlier: messages.slice(0, at).flatMap(toSent),
    newest: text,
    files,
    asked: toSent(newest),
  };
}

function toSent({ role, content, id }: RawMessage): SentMessage[] {
  if (role === REFERENCE && id !== undefined) {
    return [{ role: 'assistant', text: referenceTo(id), isReference: true }];
  }
  if (role !== 'user' && role !== 'assistant') return [];
  const { text, files } = readContent(content);
  if (files.length === 0) return text === '' ? [] : [{ role, text }];
  const print = hash('sha256', files.map(({ data }) => data).join(' '));
  return [{ role, text: `${text}\n\n[${files.length} files, which are not sent again.]`, print }];
}

/** A message of a run has no more characters. */
const LONGEST = 256 * 1024;

/** A run that begins is sent all of it as its first message: the newest parts, as far as they have room. */
export function asFirstMessage({ instructions, earlier, newest }: Conversation): string {
  if (instructions === '' && earlier.length === 0) return newest;
  let room = LONGEST - newest.length - 200;
  const head = instructions.length < room ? instructions : '';
  room -= head.length;
  const lines: string[] = [];
  for (const { role, text, isReference } of earlier.toReversed()) {
    if (isReference) continue;
    const line = `${role === 'user' ? 'Person' : 'You'}: ${text}`;
    room -= line.length + 2;
    if (room < 0) break;
    lines.unshift(line);
  }
  const parts = [
    head && `Instructions of the front end:\n\n${head}`,
    lines.length > 0 && `The conversation so far, without its calls:\n\n${lines.join('\n\n')}`,
    `The message to be answered:\n\n${newest}`,
  ];
  return parts.filter(Boolean).join('\n\n');
}

const bad = (message: string): HttpError => new HttpError('bad_request', message);

/** The beginning of what Open WebUI and those that follow it ask beside a chat. */
const TASK = /^\s*#{1,4}\s*Task:?\s*\n/i;
/** It asks which of its own tools are of use. */
const CHOICE = /^Available Tools: .{0,100000}Your task is to choose and return the correct tool/s;
/** A name that a person gives to something says nothing of what is asked for. */
const QUOTED = /"[^"\n]{0,200}"/g;
const TASK_PARTS =
  /<\/?chat_history>|^#{1,4}\s*(?:Output|Chat History|Guidelines|Instructions|Examples|Context)\b/im;

/** Other front ends ask for something of the chat itself: a name, a subject, what may be asked next. */
const WANTED =
  /\b(?:generate|write|create|provide|give|suggest|return|reply|summari[sz]e|name|propose)\b(?:[^.!?\n]|\n?\d\.|:\n){0,120}\b(?<!with the )(?:title|topic|subject|tags?|name|emoji|follow-?ups?|next questions?|queries)\b/i;
const OF_CHAT =
  /\b(?:conversation|chat(?: history)?|dialogue|discussion|first message|messages above|following (?:request|message|query))\b/i;
const WANTED_CHINESE =
  /(?:生成|总结|概括|返回|起|取|提炼|建议)[^。！？\n]{0,40}(?:标题|主题|标签|话题|追问|后续问题)/;
const OF_CHAT_CHINESE = /对话|会话|聊天|这句话/;

const LONGEST_ASK = 4_000;
/** Instructions that are a task and nothing else are no longer. */
const LONGEST_TASK = 600;

/**
 * Tells whether a front end asks for itself, beside the chat of its person (OA21): for a title, tags or
 * follow-up questions. A person may ask for the like: what is not in the form of a task is one only
 * where it is not streamed, which answers for people are.
 */
export function isBackgroundTask(
  { instructions, newest }: Pick<Conversation, 'instructions' | 'newest'>,
  isStreamed: boolean,
): boolean {
  if (TASK.test(newest) && TASK_PARTS.test(newest)) return true;
  if ([newest, instructions].some((text) => CHOICE.test(text))) return true;
  if (isStreamed) return false;
  // A long prompt of an assistant may speak of such things; a task says nothing else.
  const isAlone = instructions.length <= LONGEST_TASK;
  return (isAlone ? [newest, instructions] : [newest]).some((text) => {
    const ask = text.slice(0, LONGEST_ASK).replace(QUOTED, '');
    return (
      (WANTED.test(ask) && OF_CHAT.test(ask)) ||
      (WANTED_CHINESE.test(ask) && OF_CHAT_CHINESE.test(ask))
    );
  });
}
