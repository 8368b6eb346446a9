// The login pages: which tenant, then which identity provider. Tenants are never listed, because their names are customers' data.
import type { Reply } from '../../../core/http/endpoint.ts';
import { html, type Html } from '../../../core/http/pages/html.ts';
import { pageReply } from '../../../core/http/pages/frame.ts';
import type { Language } from '../../../core/http/pages/language.ts';
import type { SignInWay } from '../../../core/plugin/services/sessions.ts';

const english = {
  signIn: 'Sign in',
  before: 'You signed in to this tenant before:',
  continueTo: (tenant: string): string => `Continue to ${tenant}`,
  typeTenant: 'Type the name of your organisation’s tenant. You then choose its identity provider.',
  tenant: 'Tenant',
  anotherTenant: 'Another tenant',
  continue: 'Continue',
  noProvider: 'No identity provider?',
  signInWith: (way: string): string => `Sign in with ${way}`,
  signInTo: (tenant: string): string => `Sign in to ${tenant}`,
  only: 'Your identity provider will ask who you are.',
  choose: 'Choose your identity provider.',
  commandLine: 'Programs and administrators use the command line, with an approle or a token:',
};

const texts: Readonly<Record<Language, typeof english>> = {
  en: english,
  de: {
    signIn: 'Anmelden',
    before: 'Bei diesem Mandanten haben Sie sich schon angemeldet:',
    continueTo: (tenant) => `Weiter zu ${tenant}`,
    typeTenant: 'Geben Sie den Namen des Mandanten Ihrer Organisation ein. Danach wählen Sie dessen Identitätsanbieter.',
    tenant: 'Mandant',
    anotherTenant: 'Ein anderer Mandant',
    continue: 'Weiter',
    noProvider: 'Kein Identitätsanbieter?',
    signInWith: (way) => `Anmelden mit ${way}`,
    signInTo: (tenant) => `Anmelden bei ${tenant}`,
    only: 'Ihr Identitätsanbieter fragt, wer Sie sind.',
    choose: 'Wählen Sie Ihren Identitätsanbieter.',
    commandLine: 'Programme und Administratoren verwenden die Befehlszeile, mit einer AppRole oder einem Token:',
  },
};

/** Asks for the tenant. `last` is the tenant of the last sign-in in this browser; Enter continues with it. `otherWays` are those of other plugins. */
export function tenantPage(language: Language, last: string | undefined, publicUrl: string, otherWays: readonly SignInWay[] = []): Reply {
  const words = texts[language];
  return pageReply(200, {
    language,
    title: words.signIn,
    main: html`<h1>${words.signIn}</h1>
      ${
        last !== undefined &&
        html`<p class="quiet">${words.before}</p>
          <a class="button primary" href="/login?tenant=${encodeURIComponent(last)}" autofocus>${words.continueTo(last)}</a>`
      }
      ${last === undefined && html`<p class="quiet">${words.typeTenant}</p>`}
      <form action="/login" method="get">
        <label for="tenant">${last === undefined ? words.tenant : words.anotherTenant}</label>
        <input
          type="text"
          id="tenant"
          name="tenant"
          required
          ${last === undefined && html`autofocus`}
          maxlength="128"
          autocomplete="organization"
          autocapitalize="none"
          spellcheck="false"
        />
        <button class="${last === undefined ? 'button primary' : 'button'}" type="submit">${words.continue}</button>
      </form>
      <details>
        <summary>${words.noProvider}</summary>
        ${otherWays.map(({ path, title }) => html`<p><a href="${path}">${words.signInWith(title[language])}</a></p>`)}
        ${withoutProvider(publicUrl, language)}
      </details>`,
  });
}

/** Logins for programs, and for administrators before people can sign in. */
export function withoutProvider(publicUrl: string, language: Language = 'en'): Html {
  return html`<p class="quiet">${texts[language].commandLine}</p>
    ${command('keystorectl login approle', `--url ${publicUrl}`, '--role-id ID --secret-id @FILE')}
    ${command('keystorectl login token', `--url ${publicUrl}`, '--token-file FILE')}`;
}

/** A command that can be copied as it is: the shell joins the lines. */
function command(...lines: readonly string[]): Html {
  return html`<code class="code lines">${lines.join(' \\\n  ')}</code>`;
}

export type Choice = { readonly service: string; readonly displayName: string };

/**
 * Page with one link per provider. Links and not forms, because `form-action` of the page's policy would block the redirect to the
 * provider.
 */
export function providersPage(language: Language, tenant: string, choices: readonly Choice[]): Reply {
  const words = texts[language];
  const isOnly = choices.length === 1;
  return pageReply(200, {
    language,
    title: words.signInTo(tenant),
    main: html`<h1>${words.signInTo(tenant)}</h1>
      <p class="quiet">${isOnly ? words.only : words.choose}</p>
      <ul class="stack">
        ${choices.map(
          ({ service, displayName }) =>
            html`<li>
              <a class="${isOnly ? 'button primary' : 'button'}" href="${loginPath(tenant, service)}" ${isOnly && html`autofocus`}
                >${displayName}</a
              >
            </li>`,
        )}
      </ul>
      <p class="quiet"><a href="/login?tenant=">${words.anotherTenant}</a></p>`,
  });
}

export function loginPath(tenant: string, service: string): string {
  return `/login/${encodeURIComponent(tenant)}/${encodeURIComponent(service)}`;
}
