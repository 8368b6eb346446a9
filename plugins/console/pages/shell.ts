// The one page of the browser application, and its headers: scripts and styles of this origin alone, nothing inline, no markup from texts.
import { Reply } from '../../../core/http/endpoint.ts';
import { iconAddress, pageHeaders, pageMediaType, pageReply } from '../../../core/http/pages/frame.ts';
import { html, type Html } from '../../../core/http/pages/html.ts';
import type { Language } from '../../../core/http/pages/language.ts';
import type { Application } from './assets.ts';

/**
 * `trusted-types 'none'`: no code of the page can turn a text into markup, a script or the address of one, because no policy can be made.
 * The application sends no forms by itself, so `form-action` allows none.
 */
const securityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const shellHeaders = { ...pageHeaders, 'content-security-policy': securityPolicy, 'content-type': pageMediaType };

/** Facts for the application, as JSON in a meta element of the page. */
export type ShellFacts = {
  /** secret, given once, to the first load after a sign-in */
  readonly secret?: string;
  readonly 'idle-seconds': number;
  /** the page of the account that another plugin has for this session */
  readonly account?: string;
  /** address of the page after the application has its secret */
  readonly next?: string;
  /** fingerprint of the CA, while nobody has claimed the appliance */
  readonly unclaimed?: string;
};

/** Texts for a browser without scripts. */
const withoutScript: Readonly<Record<Language, { readonly needs: Html; readonly account: string; readonly api: string }>> = {
  en: {
    needs: html`The console needs JavaScript, which is switched off in this browser. <code>keystorectl</code> can do everything it can do.`,
    account: 'Your account: name, roles, API token, sign out',
    api: 'Description of the API',
  },
  de: {
    needs: html`Die Konsole braucht JavaScript, das in diesem Browser ausgeschaltet ist. <code>keystorectl</code> kann alles, was sie kann.`,
    account: 'Ihr Konto: Name, Rollen, API-Token, abmelden',
    api: 'Beschreibung der API',
  },
};

/** The page of an application, which is in the same language. */
export function shellPage(
  language: Language,
  { script, styles }: Application,
  facts: ShellFacts,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const words = withoutScript[language];
  const page = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <meta name="keystored-console" content="${JSON.stringify(facts)}" />
        <title>keystored</title>
        <link rel="icon" href="${iconAddress}" />
        ${styles.map((style) => html`<link rel="stylesheet" href="${style}" />`)}
        <script type="module" src="${script}"></script>
      </head>
      <body>
        <noscript>
          <p>${words.needs}</p>
          ${facts.account === undefined ? '' : html`<p><a href="${facts.account}">${words.account}</a></p>`}
          <p><a href="/v1/docs">${words.api}</a></p>
        </noscript>
        <div id="app"></div>
      </body>
    </html> `;
  return new Reply(200, page.markup, { ...shellHeaders, ...headers });
}

/** Page in place of the application, in a source tree where it was not built. */
export function notBuiltPage(): Reply {
  return pageReply(503, {
    title: 'The console was not built',
    main: html`<h1>The console was not built</h1>
      <p>This appliance runs from a source tree. <code>npm start</code> builds the console before it starts.</p>`,
  });
}
