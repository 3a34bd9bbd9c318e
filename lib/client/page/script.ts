/**
 * `/client.js`: makes the page that has it as a `<script>` a client, and gives it `callboard`.
 * The tag's attributes are described in `docs/clients.md`.
 */
import { pageCallboard } from './browser-page.ts';
import { readScript } from './read-script.ts';

const warn = (problem: string) => console.warn(`callboard: ${problem}`);
const tag = document.currentScript;
const callboard = pageCallboard();

// Not `in`: an element with that id is a property of the window as well.
if (Reflect.get(window, 'callboard') === callboard) {
  warn('this page has this script already; the second one changes nothing.');
} else if (tag instanceof HTMLScriptElement && tag.src !== '') {
  Object.defineProperty(window, 'callboard', { value: callboard, enumerable: true });
  const { options, problems } = readScript(tag);
  for (const problem of problems) warn(problem);
  callboard.connect(options);
} else {
  warn(
    'client.js is a classic script with a src; modules import { callboard } from "callboard/client".',
  );
}
