// The style sheet of the pages, and its hash for the content security policy: nothing is loaded.
import { createHash } from 'node:crypto';

/** Light and dark by system setting; sizes relative to the reader's font; works from 320 px. */
export const styleSheet = `
:root {
  color-scheme: light dark;
  --ground: #f3f5f7; --card: #ffffff; --text: #17202b; --quiet: #556170; --line: #d5dbe2;
  --accent: #0b5c8a; --accent-text: #ffffff; --accent-strong: #084a70; --warn: #8a4b00; --warn-ground: #fff5e6; --warn-line: #eccfa0;
  --code: #eef1f4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10151b; --card: #19212a; --text: #e7ecf1; --quiet: #9dabba; --line: #33404e;
    --accent: #6cb8e6; --accent-text: #08202f; --accent-strong: #93cdf0; --warn: #f0c078; --warn-ground: #2b2418; --warn-line: #5a4826;
    --code: #222c37;
  }
}
* { box-sizing: border-box; }
html { font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; background: var(--ground); color: var(--text); }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; align-items: center; padding: clamp(1rem, 8vh, 6rem) 1rem 2rem; }
header { width: 100%; max-width: 27rem; display: flex; align-items: center; gap: .6rem; margin: 0 0 1rem; color: var(--quiet); font-weight: 600; letter-spacing: .01em; }
header svg { width: 1.4rem; height: 1.4rem; color: var(--accent); flex: none; }
main { width: 100%; max-width: 27rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: clamp(1.25rem, 5vw, 2rem); }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .5rem; font-weight: 650; text-wrap: balance; overflow-wrap: anywhere; }
h2 { font-size: 1rem; line-height: 1.3; margin: 0 0 .35rem; font-weight: 650; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; text-wrap: pretty; }
main > :last-child, section > :last-child, details > :last-child { margin-bottom: 0; }
section, details { margin: 1.5rem 0 0; padding: 1.25rem 0 0; border-top: 1px solid var(--line); }
details { padding-top: .75rem; }
summary { cursor: pointer; color: var(--quiet); font-size: .9rem; padding: .25rem 0; }
summary + p { margin-top: .5rem; }
.quiet { color: var(--quiet); font-size: .9rem; }
.stack { display: grid; gap: .75rem; margin: 1.25rem 0; padding: 0; list-style: none; }
label { display: block; font-weight: 600; margin: 1.25rem 0 .35rem; }
input[type=text], input[type=password] { width: 100%; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--quiet); border-radius: .5rem; padding: .6rem .75rem; min-height: 2.9rem; }
.button { display: flex; width: 100%; min-height: 2.9rem; align-items: center; justify-content: center; padding: .55rem 1rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; overflow-wrap: anywhere; border-radius: .5rem; border: 1px solid var(--line); background: var(--card); color: var(--text); cursor: pointer; }
.button:hover { border-color: var(--accent); }
.button.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-text); }
.button.primary:hover { background: var(--accent-strong); border-color: var(--accent-strong); }
form { margin: 1rem 0 0; }
input:not([type=hidden]) + .button { margin-top: 1.25rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .75rem; }
a { color: var(--accent); text-underline-offset: .15em; }
a:focus-visible, button:focus-visible, input:focus-visible, summary:focus-visible, .code:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
dl { display: grid; grid-template-columns: minmax(5.5rem, max-content) 1fr; gap: .5rem 1rem; margin: 1.25rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
dl .wide { grid-column: 1 / -1; }
dt.wide + dd { margin-top: -.4rem; }
dd .quiet { display: block; }
ul.plain { margin: 0; padding: 0; list-style: none; }
code, .code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { font-size: .94em; }
.code { display: block; font-size: .9rem; background: var(--code); border-radius: .5rem; padding: .75rem; margin: 1rem 0; overflow-wrap: anywhere; user-select: all; }
.code.lines { white-space: pre-wrap; font-size: .82rem; margin: .75rem 0; }
.code.big { font-size: 1.6rem; text-align: center; letter-spacing: .12em; font-weight: 600; overflow-wrap: normal; }
.notice { background: var(--warn-ground); border: 1px solid var(--warn-line); color: var(--warn); border-radius: .5rem; padding: .75rem; }
footer { width: 100%; max-width: 27rem; margin: 1rem 0 0; color: var(--quiet); font-size: .85rem; overflow-wrap: anywhere; }
@media (max-width: 24rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin: 0 0 .6rem; } dt.wide + dd { margin-top: 0; } .code.lines { white-space: pre-wrap; font-size: .82rem; margin: .75rem 0; }
.code.big { font-size: 1.3rem; } }
@media (forced-colors: active) {
  .button, main, input { border-color: ButtonText; }
  .button.primary { forced-color-adjust: none; background: Highlight; border-color: Highlight; color: HighlightText; }
}
`;

/** For the content security policy, in place of `unsafe-inline`. */
export const styleHash = `sha256-${createHash('sha256').update(styleSheet).digest('base64')}`;
