import { escapeHtml } from './escape-html.ts';
import type { TrustTexts } from './trust-texts.ts';

const STYLE = `
:root{color-scheme:light dark;--ground:#fbfbfa;--text:#1c1b1a;--quiet:#57534e;--line:#d6d3d1;--link:#1d4ed8}
@media (prefers-color-scheme:dark){:root{--ground:#161514;--text:#f2f0ee;--quiet:#a8a29e;--line:#44403c;--link:#93b4ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.55 system-ui,sans-serif}
main{max-width:42rem;margin:0 auto;padding:1.25rem 1rem 3rem}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0 1rem}
p,li{overflow-wrap:anywhere}
ol{padding-left:1.4rem;margin:.5rem 0 1rem}
li{margin:.4rem 0}
a{color:var(--link);padding:.2rem 0}
a:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:2px}
code{display:block;padding:.75rem;border:1px solid var(--line);border-radius:.5rem;font:14px/1.7 ui-monospace,monospace;overflow-wrap:anywhere}
.quiet{color:var(--quiet)}
.files a{display:block;padding:.75rem;margin:.5rem 0;border:1px solid var(--line);border-radius:.5rem}
details{border-top:1px solid var(--line)}
summary{padding:.75rem 0;font-weight:600;cursor:pointer}
`;

/** The page, for browsers without scripts and narrow screens. */
export function trustPage(
  texts: TrustTexts,
  facts: { readonly fingerprint: string; readonly name: string; readonly nonce: string },
): string {
  const links: Record<string, string> = {
    file: `<a href="/trust/ca.crt">${escapeHtml(texts.file)}</a>`,
    profile: `<a href="/trust/ca.mobileconfig">${escapeHtml(texts.profile)}</a>`,
  };
  const step = (text: string) =>
    `<li>${escapeHtml(text).replace(/\{(\w+)\}/g, (_, name: string) => links[name] ?? '')}</li>`;
  const guides = texts.guides.map(
    ({ system, steps }) =>
      `<details open><summary>${escapeHtml(system)}</summary><ol>${steps.map(step).join('')}</ol></details>`,
  );
  return `<!doctype html>
<html lang="${texts.lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(texts.title)}</title>
<style nonce="${facts.nonce}">${STYLE}</style>
</head>
<body><main>
<h1>${escapeHtml(texts.title)}</h1>
<p>${escapeHtml(texts.intro)}</p>
<p>${escapeHtml(texts.compare)}</p>
<p class="quiet" id="fingerprint">${escapeHtml(texts.fingerprint)}: ${escapeHtml(facts.name)}</p>
<code aria-labelledby="fingerprint">${escapeHtml(facts.fingerprint)}</code>
<p class="files">${links.file}${links.profile}</p>
${guides.join('\n')}
<p class="quiet">${escapeHtml(texts.effect)} ${escapeHtml(texts.removal)}</p>
</main></body>
</html>
`;
}
