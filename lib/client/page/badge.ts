import { BADGE_STYLE } from './badge-style.ts';

/** The badge shows these, in a person's language; `label` is what screen readers say of the whole. */
const EN = {
  label: 'Tools of this page in use',
  stop: 'Stop',
  stopTool: (tool: string) => `Stop ${tool}`,
  running: (by: string, tool: string) => `${by} is using ${tool}`,
  stopped: (tool: string) => `${tool} was stopped`,
  operator: 'An operator',
  run: 'The agent',
  agent: (name: string) => `The agent ${name}`,
  device: (name: string) => `The device ${name}`,
  callboard: (server: string) => `Callboard at ${server}`,
};

type BadgeTexts = typeof EN;

const ZH: BadgeTexts = {
  label: '此页面正在使用的工具',
  stop: '停止',
  stopTool: (tool) => `停止 ${tool}`,
  running: (by, tool) => `${by}正在使用 ${tool}`,
  stopped: (tool) => `${tool} 已停止`,
  operator: '操作员',
  run: '智能体',
  agent: (name) => `智能体 ${name} `,
  device: (name) => `设备 ${name} `,
  callboard: (server) => `${server} 上的 Callboard `,
};

/** By the language of the page, as `<html lang>` has it; English for all but Chinese. */
const badgeTexts = (language: string): BadgeTexts => (/^zh\b/i.test(language) ? ZH : EN);

/** A caller as the server names it: `operator`, `operator:<name>`, `agent:<name>`, `run:<id>`, `device:<id>`. */
function describeCaller({ caller, server }: BadgeCall, texts: BadgeTexts): string {
  const [kind, ...rest] = caller?.split(':') ?? [];
  const name = rest.join(':');
  if (kind === 'run') return texts.run;
  if (kind === 'operator') return name || texts.operator;
  if (kind === 'agent') return texts.agent(name);
  if (kind === 'device') return texts.device(name);
  return texts.callboard(server);
}

/** A running call, as the person at the page sees it. */
export interface BadgeCall {
  readonly tool: string;
  /** The server names the caller so; undefined where it does not. */
  readonly caller: string | undefined;
  /** The server's host. */
  readonly server: string;
  stop(): void;
}

/** Shows in a corner of the page what runs there. */
export interface Badge {
  /** Until the function that it returns is called. */
  show(call: BadgeCall): () => void;
}

/** For a page that shows by itself what runs. */
export const NO_BADGE: Badge = { show: () => () => {} };

/** A live region that is filled in the moment it is made is not read out by all screen readers. */
const ANNOUNCE_MS = 100;

/** Nothing of it is in the page before the first call. Rules: BA in `lib/client/SPEC.md`. */
export function createBadge(document: Document): Badge {
  let show: Badge['show'] | undefined;
  return {
    show(call) {
      show ??= createView(document);
      return show(call);
    },
  };
}

function createView(document: Document): Badge['show'] {
  const host = document.createElement('callboard-badge');
  const root = host.attachShadow({ mode: 'open' });
  const style = new CSSStyleSheet();
  style.replaceSync(BADGE_STYLE);
  root.adoptedStyleSheets = [style];
  const panel = document.createElement('section');
  const list = document.createElement('ul');
  const live = document.createElement('p');
  live.setAttribute('role', 'status');
  live.setAttribute('aria-live', 'polite');
  // A list without marks is none to Safari unless it says so.
  list.setAttribute('role', 'list');
  panel.append(list);
  root.append(panel, live);
  const focus = watchFocus(panel);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const announce = (text: string) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      live.textContent = text;
    }, ANNOUNCE_MS);
  };

  return (call) => {
    const language = document.documentElement.lang;
    const texts = badgeTexts(language);
    // A page may have emptied its body meanwhile.
    if (!host.isConnected) (document.body ?? document.documentElement).append(host);
    host.lang = language.startsWith('zh') ? language : 'en';
    panel.setAttribute('aria-label', texts.label);
    panel.hidden = false;
    const sentence = texts.running(describeCaller(call, texts), call.tool);
    let outcome = '';
    const row = createRow(document, sentence, {
      label: texts.stop,
      name: texts.stopTool(call.tool),
      onStop() {
        outcome = texts.stopped(call.tool);
        call.stop();
      },
    });
    list.append(row);
    announce(sentence);
    return () => {
      const next = row.nextElementSibling ?? row.previousElementSibling;
      const hadFocus = row.contains(root.activeElement);
      row.remove();
      panel.hidden = list.childElementCount === 0;
      if (panel.hidden || outcome !== '') announce(outcome);
      if (hadFocus) focus.leave(next?.querySelector('button'));
    };
  };
}

function createRow(
  document: Document,
  sentence: string,
  stop: { readonly label: string; readonly name: string; onStop(): void },
): HTMLLIElement {
  const row = document.createElement('li');
  const text = document.createElement('span');
  text.textContent = sentence;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = stop.label;
  button.setAttribute('aria-label', stop.name);
  button.addEventListener('click', () => stop.onStop());
  row.append(text, button);
  return row;
}

/** A button that disappears under the keyboard's focus would leave the person at the page's beginning. */
function watchFocus(panel: HTMLElement) {
  let before: EventTarget | null = null;
  panel.addEventListener('focusin', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && panel.contains(relatedTarget))) before = relatedTarget;
  });
  return {
    /** To the next button of the badge, or to where the focus came from. */
    leave(next: HTMLElement | null | undefined) {
      const target = next ?? before;
      const kept = before;
      if (target instanceof HTMLElement && target.isConnected) target.focus();
      // A row that was removed is not where the focus came from.
      before = kept;
    },
  };
}
