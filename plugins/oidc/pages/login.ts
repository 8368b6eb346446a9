// The way in: which tenant, then which identity provider. Tenants are never listed: their names are customers' data.
import type { Reply } from '../../../core/http/endpoint.ts';
import { html } from './html.ts';
import { pageReply } from './layout.ts';

/** One field: the tenant's name. */
export function tenantPage(): Reply {
  return pageReply(200, {
    title: 'Sign in',
    main: html`<h1>Sign in</h1>
      <p class="quiet">Type the name of your organisation’s tenant. You then choose its identity provider.</p>
      <form action="/login" method="get">
        <label for="tenant">Tenant</label>
        <input
          type="text"
          id="tenant"
          name="tenant"
          required
          autofocus
          maxlength="128"
          autocomplete="organization"
          autocapitalize="none"
          spellcheck="false"
        />
        <button class="button primary" type="submit">Continue</button>
      </form>`,
  });
}

export type Choice = { readonly service: string; readonly displayName: string };

/** One link per provider. Links, not forms: the policy for forms would hold the redirect to the provider. */
export function providersPage(tenant: string, choices: readonly Choice[]): Reply {
  const [only] = choices;
  return pageReply(200, {
    title: `Sign in to ${tenant}`,
    main: html`<h1>Sign in to ${tenant}</h1>
      <p class="quiet">${choices.length === 1 ? 'Your identity provider will ask who you are.' : 'Choose your identity provider.'}</p>
      <ul class="stack">
        ${choices.map(
          (choice) =>
            html`<li>
              <a
                class="${choice === only && choices.length === 1 ? 'button primary' : 'button'}"
                href="${loginPath(tenant, choice.service)}"
                >${choice.displayName}</a
              >
            </li>`,
        )}
      </ul>
      <p class="quiet"><a href="/login">Another tenant</a></p>`,
  });
}

export function loginPath(tenant: string, service: string): string {
  return `/login/${encodeURIComponent(tenant)}/${encodeURIComponent(service)}`;
}
