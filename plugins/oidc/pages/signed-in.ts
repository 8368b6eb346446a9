// The page of a session: account, roles, policies and end; and the pages behind its two buttons.
import type { Reply } from '../../../core/http/endpoint.ts';
import { html, type Html } from '../../../core/http/pages/html.ts';
import { formatMoment, pageReply } from '../../../core/http/pages/frame.ts';

export type SessionView = {
  readonly username: string;
  readonly fullname: string | undefined;
  readonly tenant: string;
  readonly provider: string;
  readonly roles: readonly string[];
  readonly policies: readonly string[];
  readonly now: Temporal.Instant;
  readonly expires: Temporal.Instant;
  readonly idleMinutes: number;
  readonly formToken: string;
};

export function signedInPage(view: SessionView): Reply {
  return pageReply(200, {
    title: `Signed in to ${view.tenant}`,
    main: html`<h1>${view.fullname ?? view.username}</h1>
      <p class="quiet">You are signed in.</p>
      <dl>
        <dt>Account</dt>
        <dd>${view.username}</dd>
        <dt>Tenant</dt>
        <dd>${view.tenant}</dd>
        <dt>Provider</dt>
        <dd>${view.provider}</dd>
        <dt>${view.roles.length === 1 ? 'Role' : 'Roles'}</dt>
        <dd>${list(view.roles)}</dd>
        <dt>Policies</dt>
        <dd>${view.policies.length === 0 ? 'none: nothing is allowed yet' : list(view.policies)}</dd>
        <dt>Ends</dt>
        <dd>
          ${formatMoment(view.expires)}
          <span class="quiet">${formatSpan(view.now.until(view.expires))}, or after ${view.idleMinutes} minutes without use</span>
        </dd>
      </dl>
      <form action="/ui/token" method="post">
        <input type="hidden" name="form-token" value="${view.formToken}" />
        <button class="button" type="submit">Show an API token</button>
      </form>
      <form action="/ui/sign-out" method="post">
        <input type="hidden" name="form-token" value="${view.formToken}" />
        <button class="button" type="submit">Sign out</button>
      </form>`,
  });
}

/** Page in place of a token, for a session that may have been left open. `path`: where the provider asks for the credentials. */
export function signInAgainPage(path: string, headers: Readonly<Record<string, string>>): Reply {
  return pageReply(
    403,
    {
      title: 'Sign in again',
      main: html`<h1>Sign in again first</h1>
        <p>
          An API token can do everything you can do. It is shown in the five minutes after a sign-in, so that nobody takes one from a screen
          that was left open.
        </p>
        <a class="button primary" href="${path}">Sign in again</a>
        <a class="button" href="/ui/account">Back</a>`,
    },
    headers,
  );
}

/** The only page with a token: shown after a click, never cached, gone after a reload. */
export function tokenPage(token: string, expires: Temporal.Instant, kept: number): Reply {
  return pageReply(200, {
    title: 'API token',
    main: html`<h1>API token</h1>
      <p>Send it as <code>Authorization: Bearer</code>. It is shown once and can do everything you can do.</p>
      <code class="code" tabindex="0" aria-label="API token">${token}</code>
      <p class="quiet">
        It ends at ${formatMoment(expires)}, or when you sign out. A session has at most ${kept} tokens: one more ends the oldest.
      </p>
      <a class="button primary" href="/ui">Done</a>`,
  });
}

/** `providerSignOut`: the provider's sign-out page, because the person is still signed in there. */
export function signedOutPage(providerSignOut: string | undefined, headers: Readonly<Record<string, string | readonly string[]>>): Reply {
  return pageReply(
    200,
    {
      title: 'Signed out',
      main: html`<h1>You are signed out</h1>
        <p>Your session and the tokens made from it no longer work.</p>
        <p class="quiet">
          At your identity provider you may still be signed in.
          ${providerSignOut !== undefined && html`<a href="${providerSignOut}" rel="noreferrer">Sign out there too</a>`}
        </p>
        <a class="button primary" href="/login">Sign in again</a>`,
    },
    headers,
  );
}

function list(texts: readonly string[]): Html {
  return html`<ul class="plain">
    ${texts.map((text) => html`<li>${text}</li>`)}
  </ul>`;
}

function formatSpan(span: Temporal.Duration): string {
  const minutes = Math.max(0, Math.round(span.total('minutes')));
  if (minutes < 120) return `in ${minutes} minutes`;
  return minutes < 48 * 60 ? `in ${Math.round(minutes / 60)} hours` : `in ${Math.round(minutes / 1440)} days`;
}
