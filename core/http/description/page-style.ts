// The style sheet of the page, and its hash for the content security policy.
import { createHash } from 'node:crypto';

/** Light and dark by system setting; one column on narrow screens; tables scroll on their own. */
export const pageStyle = `
:root { color-scheme: light dark; --ground: #fff; --side: #f3f5f7; --text: #17202b; --quiet: #556170; --line: #d5dbe2; --accent: #0b5c8a; --code: #eef1f4; --get: #0b6b3a; --post: #0b5c8a; --put: #8a4b00; --delete: #a11d2b; }
@media (prefers-color-scheme: dark) { :root { --ground: #10151b; --side: #19212a; --text: #e7ecf1; --quiet: #9dabba; --line: #33404e; --accent: #6cb8e6; --code: #222c37; --get: #7ad3a0; --post: #6cb8e6; --put: #f0c078; --delete: #ff9aa5; } }
* { box-sizing: border-box; }
html { font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; background: var(--ground); color: var(--text); scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 14rem minmax(0, 1fr); min-height: 100vh; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; background: var(--side); border-right: 1px solid var(--line); display: flex; flex-direction: column; gap: .15rem; }
nav strong { margin-bottom: .75rem; }
nav a { padding: .2rem .5rem; border-radius: .35rem; color: var(--text); text-decoration: none; }
nav a:hover { background: var(--code); }
nav a::first-letter, h2::first-letter { text-transform: uppercase; }
main { padding: 2rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 75rem; }
h1 { margin: 0 0 .5rem; font-size: 1.8rem; }
h2 { margin: 2.5rem 0 .75rem; padding-top: .5rem; border-top: 1px solid var(--line); font-size: 1.3rem; }
h3 { margin: 1.25rem 0 .4rem; font-size: .95rem; }
p { max-width: 46rem; }
a { color: var(--accent); text-underline-offset: .15em; }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .2rem; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .9em; overflow-wrap: anywhere; }
pre { background: var(--code); border-radius: .4rem; padding: .6rem .8rem; margin: .5rem 0; white-space: pre-wrap; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; padding: 0 1rem; }
details[open] { padding-bottom: 1rem; }
summary { cursor: pointer; padding: .55rem 0; overflow-wrap: anywhere; }
.method { display: inline-block; min-width: 4.2rem; font-weight: 700; font-size: .8rem; color: var(--accent); }
.method.get { color: var(--get); } .method.post { color: var(--post); } .method.put, .method.patch { color: var(--put); } .method.delete { color: var(--delete); }
.quiet { color: var(--quiet); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th:first-child { min-width: 12rem; } th:nth-child(2) { min-width: 9rem; }
th { text-align: left; font-size: .85rem; color: var(--quiet); font-weight: 600; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child { white-space: nowrap; } td:nth-child(2) { max-width: 18rem; overflow-wrap: anywhere; }
.codes { list-style: none; padding: 0; margin: 0; font-size: .92rem; }
tr:target td { background: var(--code); } details:target { border-color: var(--accent); }
@media (max-width: 48rem) { body { display: block; } nav { position: static; height: auto; flex-flow: row wrap; border-right: 0; border-bottom: 1px solid var(--line); } nav strong { width: 100%; margin: 0; } main { padding-top: 1rem; } thead { display: none; } table, tbody, tr, td { display: block; max-width: none; } td:nth-child(2) { max-width: none; } td { border: 0; padding: 0; } tr { border-bottom: 1px solid var(--line); padding: .4rem 0; } td:first-child { white-space: normal; } }
@media print { nav { display: none; } body { display: block; } }
`;

/** For the content security policy, in place of `unsafe-inline`. */
export const pageStyleHash = `sha256-${createHash('sha256').update(pageStyle).digest('base64')}`;
