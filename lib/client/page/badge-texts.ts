/** What the badge shows, in a person's language. */
export interface BadgeTexts {
  /** Of the whole badge, for screen readers. */
  readonly label: string;
  readonly stop: string;
  stopTool(tool: string): string;
  running(by: string, tool: string): string;
  stopped(tool: string): string;
  by(caller: string | undefined, server: string): string;
}

const EN: BadgeTexts = {
  label: 'Tools of this page in use',
  stop: 'Stop',
  stopTool: (tool) => `Stop ${tool}`,
  running: (by, tool) => `${by} is using ${tool}`,
  stopped: (tool) => `${tool} was stopped`,
  by: (caller, server) =>
    describeCaller(caller, {
      operator: 'An operator',
      run: 'The agent',
      agent: (name) => `The agent ${name}`,
      device: (name) => `The device ${name}`,
      unknown: `Callboard at ${server}`,
    }),
};

const ZH: BadgeTexts = {
  label: '此页面正在使用的工具',
  stop: '停止',
  stopTool: (tool) => `停止 ${tool}`,
  running: (by, tool) => `${by}正在使用 ${tool}`,
  stopped: (tool) => `${tool} 已停止`,
  by: (caller, server) =>
    describeCaller(caller, {
      operator: '操作员',
      run: '智能体',
      agent: (name) => `智能体 ${name} `,
      device: (name) => `设备 ${name} `,
      unknown: `${server} 上的 Callboard `,
    }),
};

/** By the language of the page, as `<html lang>` has it; English for all but Chinese. */
export const badgeTexts = (language: string): BadgeTexts => (/^zh\b/i.test(language) ? ZH : EN);

interface CallerTexts {
  readonly operator: string;
  readonly run: string;
  agent(name: string): string;
  device(name: string): string;
  readonly unknown: string;
}

/** A caller as the server names it: `operator`, `operator:<name>`, `agent:<name>`, `run:<id>`, `device:<id>`. */
function describeCaller(caller: string | undefined, texts: CallerTexts): string {
  const [kind, ...rest] = caller?.split(':') ?? [];
  const name = rest.join(':');
  if (kind === 'run') return texts.run;
  if (kind === 'operator') return name || texts.operator;
  if (kind === 'agent') return texts.agent(name);
  if (kind === 'device') return texts.device(name);
  return texts.unknown;
}
