/**
 * It is the style of the badge alone, in its shadow tree. `!important` on the host is stronger than any rule of the
 * page, since for important rules the inner tree comes first; `all` takes back what is inherited.
 */
export const BADGE_STYLE = `
:host {
  all: initial !important;
  position: fixed !important;
  inset-block-end: calc(12px + env(safe-area-inset-bottom, 0px)) !important;
  inset-inline-end: 12px !important;
  z-index: 2147483647 !important;
  pointer-events: none !important;
  color-scheme: light dark;
}
section {
  --bg: #fff;
  --fg: #15181d;
  --line: #767d88;
  --mark: #8a4f00;
  box-sizing: border-box;
  width: max-content;
  max-width: min(360px, calc(100vw - 24px));
  max-height: 50vh;
  overflow: auto;
  padding: 4px 12px;
  border: 1px solid var(--line);
  border-inline-start: 4px solid var(--mark);
  border-radius: 10px;
  background: var(--bg);
  color: var(--fg);
  box-shadow: 0 2px 12px rgb(0 0 0 / 25%);
  font: 14px/1.4 system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif;
  pointer-events: auto;
}
section[hidden] { display: none; }
ul { margin: 0; padding: 0; list-style: none; }
li { display: flex; align-items: center; gap: 12px; padding: 4px 0; }
li span { flex: 1; min-width: 0; overflow-wrap: anywhere; }
button {
  flex: none;
  min-width: 44px;
  min-height: 32px;
  padding: 4px 12px;
  border: 1px solid var(--line);
  border-radius: 8px;
  background: var(--bg);
  color: var(--fg);
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
button:hover { border-color: var(--fg); }
button:focus-visible { outline: 2px solid var(--fg); outline-offset: 2px; }
p {
  position: absolute;
  width: 1px;
  height: 1px;
  margin: 0;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
@media (pointer: coarse) { button { min-height: 44px; } }
@media (prefers-color-scheme: dark) {
  section { --bg: #1d2127; --fg: #eef0f3; --line: #8b939f; --mark: #f2b84b; }
}
`;
