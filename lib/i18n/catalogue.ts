import { sameKeys } from './area-messages.ts';
import { approvals } from './messages/approvals.ts';
import { browserTools } from './messages/browser-tools.ts';
import { card } from './messages/card.ts';
import { conversation } from './messages/conversation.ts';
import { devices } from './messages/devices.ts';
import { docs } from './messages/docs.ts';
import { errors } from './messages/errors.ts';
import { notices } from './messages/notices.ts';
import { settings } from './messages/settings.ts';
import { shell } from './messages/shell.ts';
import { signIn } from './messages/sign-in.ts';
import { tools } from './messages/tools.ts';

const areas = {
  approvals: sameKeys(approvals),
  browserTools: sameKeys(browserTools),
  card: sameKeys(card),
  conversation: sameKeys(conversation),
  devices: sameKeys(devices),
  docs: sameKeys(docs),
  errors: sameKeys(errors),
  notices: sameKeys(notices),
  settings: sameKeys(settings),
  shell: sameKeys(shell),
  signIn: sameKeys(signIn),
  tools: sameKeys(tools),
};

const inLanguage = <Language extends 'en' | 'zh'>(language: Language) => ({
  approvals: areas.approvals[language],
  browserTools: areas.browserTools[language],
  card: areas.card[language],
  conversation: areas.conversation[language],
  devices: areas.devices[language],
  docs: areas.docs[language],
  errors: areas.errors[language],
  notices: areas.notices[language],
  settings: areas.settings[language],
  shell: areas.shell[language],
  signIn: areas.signIn[language],
  tools: areas.tools[language],
});

/** Every text of the screen, by language. The one catalogue. */
export const catalogue = { en: inLanguage('en'), zh: inLanguage('zh') };
