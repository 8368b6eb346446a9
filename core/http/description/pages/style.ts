// The style sheet of the pages, and its hash for the content security policy.
import { createHash } from 'node:crypto';

/** Light and dark by system setting; one column on narrow screens; tables scroll on their own. */
export const pageStyle = `
:root { color-scheme: light dark; --ground: #fff; --side: #f3f5f7; --text: #17202b; --quiet: #556170; --line: #d5dbe2; --accent: #0b5c8a; --code: #eef1f4; --get: #0b6b3a; --post: #0b5c8a; --put: #8a4b00; --delete: #a11d2b; }
@media (prefers-color-scheme: dark) { :root { --ground: #10151b; --side: #19212a; --text: #e7ecf1; --quiet: #9dabba; --line: #33404e; --accent: #6cb8e6; --code: #222c37; --get: #7ad3a0; --post: #6cb8e6; --put: #f0c078; --delete: #ff9aa5; } }
* { box-sizing: border-box; }
html { font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; background: var(--ground); color: var(--text); scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 14rem minmax(0, 1fr); min-height: 100vh; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; background: var(--side); border-right: 1px solid var(--line); display: flex; flex-direction: column; gap: .15rem; }
nav .home { font-weight: 700; margin-bottom: .25rem; }
nav a[aria-current] { background: var(--code); font-weight: 600; }
nav form { margin: .25rem .5rem 1rem; font-size: .85rem; }
nav label { color: var(--quiet); display: block; margin-bottom: .3rem; }
.find { display: flex; gap: .35rem; }
.find input { min-width: 0; flex: 1; font: inherit; padding: .3rem .5rem; color: inherit; background: var(--ground); border: 1px solid var(--quiet); border-radius: .35rem; }
.find button { font: inherit; padding: .3rem .6rem; color: var(--ground); background: var(--accent); border: 1px solid transparent; border-radius: .35rem; cursor: pointer; }
nav a { padding: .2rem .5rem; border-radius: .35rem; color: var(--text); text-decoration: none; }
nav a:hover { background: var(--code); }
main { padding: 2rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 96rem; min-width: 0; }
h1 { margin: 0 0 .5rem; font-size: 1.8rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.25rem; }
h2 a { color: inherit; text-decoration: none; } h2 a:hover { text-decoration: underline; }
h3 { margin: 1.25rem 0 .4rem; font-size: .95rem; }
p { max-width: 46rem; }
a { color: var(--accent); text-underline-offset: .15em; }
a:focus-visible, input:focus-visible, button:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .2rem; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .9em; overflow-wrap: anywhere; }
pre { background: var(--code); border-radius: .4rem; padding: .6rem .8rem; margin: .5rem 0; white-space: pre-wrap; max-height: 24rem; overflow: auto; }
article { border-top: 1px solid var(--line); margin-top: 2.5rem; }
article:target > h2 { color: var(--accent); }
.target { margin: 0 0 .75rem; max-width: none; overflow-wrap: anywhere; }
.sides { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 2rem; align-items: start; }
.examples { position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow-y: auto; }
.examples h3:first-child { margin-top: .4rem; }
.operations { list-style: none; margin: 0; padding: 0; } .operations li { padding: .2rem 0; overflow-wrap: anywhere; }
.operation { text-decoration: none; color: inherit; } .operation:hover code { text-decoration: underline; }
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
tr:target td { background: var(--code); }
@media (max-width: 75rem) { .sides { grid-template-columns: minmax(0, 1fr); gap: 0; } .examples { position: static; max-height: none; } }
@media (max-width: 48rem) { body { display: block; } nav { position: static; height: auto; flex-flow: row wrap; border-right: 0; border-bottom: 1px solid var(--line); } nav .home, nav form { width: 100%; margin: 0; } main { padding-top: 1rem; } thead { display: none; } table, tbody, tr, td { display: block; max-width: none; } td:nth-child(2) { max-width: none; } td { border: 0; padding: 0; } tr { border-bottom: 1px solid var(--line); padding: .4rem 0; } td:first-child { white-space: normal; } }
@media print { nav { display: none; } body { display: block; } }
`;

/** For the content security policy, in place of `unsafe-inline`. */
export const pageStyleHash = `sha256-${createHash('sha256').update(pageStyle).digest('base64')}`;
