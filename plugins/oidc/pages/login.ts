// The login pages: which tenant, then which identity provider. Tenants are never listed, because their names are customers' data.
import type { Reply } from '../../../core/http/endpoint.ts';
import { html, type Html } from '../../../core/http/pages/html.ts';
import { pageReply } from '../../../core/http/pages/frame.ts';
import type { SignInWay } from '../../../core/plugin/services/sessions.ts';

/** Asks for the tenant. `last` is the tenant of the last sign-in in this browser; Enter continues with it. `otherWays` are those of other plugins. */
export function tenantPage(last: string | undefined, publicUrl: string, otherWays: readonly SignInWay[] = []): Reply {
  return pageReply(200, {
    title: 'Sign in',
    main: html`<h1>Sign in</h1>
      ${
        last !== undefined &&
        html`<p class="quiet">You signed in to this tenant before:</p>
          <a class="button primary" href="/login?tenant=${encodeURIComponent(last)}" autofocus>Continue to ${last}</a>`
      }
      ${last === undefined && html`<p class="quiet">Type the name of your organisation’s tenant. You then choose its identity provider.</p>`}
      <form action="/login" method="get">
        <label for="tenant">${last === undefined ? 'Tenant' : 'Another tenant'}</label>
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
        <button class="${last === undefined ? 'button primary' : 'button'}" type="submit">Continue</button>
      </form>
      <details>
        <summary>No identity provider?</summary>
        ${otherWays.map(({ path, title }) => html`<p><a href="${path}">Sign in with ${title}</a></p>`)} ${withoutProvider(publicUrl)}
      </details>`,
  });
}

/** Logins for programs, and for administrators before people can sign in. */
export function withoutProvider(publicUrl: string): Html {
  return html`<p class="quiet">Programs and administrators use the command line, with an approle or a token:</p>
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
export function providersPage(tenant: string, choices: readonly Choice[]): Reply {
  const isOnly = choices.length === 1;
  return pageReply(200, {
    title: `Sign in to ${tenant}`,
    main: html`<h1>Sign in to ${tenant}</h1>
      <p class="quiet">${isOnly ? 'Your identity provider will ask who you are.' : 'Choose your identity provider.'}</p>
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
      <p class="quiet"><a href="/login?tenant=">Another tenant</a></p>`,
  });
}

export function loginPath(tenant: string, service: string): string {
  return `/login/${encodeURIComponent(tenant)}/${encodeURIComponent(service)}`;
}
