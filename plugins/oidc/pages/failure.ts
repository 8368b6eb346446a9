// The page of a failed sign-in: what happened, with which account, what to do, and the reference for the log.
import type { Reply } from '../../../core/http/endpoint.ts';
import { html, type Html } from '../../../core/http/pages/html.ts';
import { pageReply } from '../../../core/http/pages/frame.ts';
import { refusalContent } from '../../../core/http/pages/refusal.ts';
import { doneBefore, type FailureRow } from '../failures.ts';
import { withoutProvider } from './login.ts';

export type FailureView = {
  readonly row: Pick<FailureRow, 'status' | 'headline' | 'detail' | 'way'>;
  readonly at: Temporal.Instant;
  readonly reference: string;
  /** path at which to start again */
  readonly retryPath: string;
  readonly tenant?: string | undefined;
  /** display name of the identity provider */
  readonly provider?: string | undefined;
  /** the account at the provider, if known, so that the person notices a wrong one */
  readonly account?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** the address where sign-ins begin, if the person came by another one */
  readonly properAddress?: string | undefined;
  /** starts the same sign-in with the provider's choice of accounts */
  readonly otherAccountPath?: string | undefined;
  /** sign-out page of the provider */
  readonly providerSignOut?: string | undefined;
  /** a command line waited for this sign-in and was denied */
  readonly forCommandLine?: boolean | undefined;
  /** the sign-in was done before, and this is the way on */
  readonly continueAt?: string | undefined;
  /** address of this system, for logins without a provider */
  readonly publicUrl: string;
};

export function failurePage(view: FailureView): Reply {
  const { row, at, reference, tenant, provider, account, retryAfterSeconds, continueAt } = view;
  const { headline, detail } = continueAt === undefined ? row : doneBefore;
  const page = refusalContent({
    headline,
    advice: detail,
    more: moreOf(view),
    facts: [
      ['Account', account],
      ['Tenant', tenant],
      ['Provider', provider],
    ],
    at,
    reference,
    ways: waysOf(view),
    isLogged: continueAt === undefined,
  });
  return pageReply(row.status, page, retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) });
}

function waysOf(view: FailureView): Html {
  const { row, continueAt } = view;
  if (continueAt !== undefined) return html`<a class="button primary" href="${continueAt}">Continue</a>`;
  return row.way === 'other-account' ? accountWays(view) : row.way === 'no-provider' ? tenantWays(view) : retryWay(view);
}

function moreOf({ properAddress, forCommandLine, continueAt }: FailureView): Html {
  return html`${properAddress !== undefined && html`<p class="notice">Sign-in works at <a href="${properAddress}">${properAddress}</a></p>`}
  ${forCommandLine === true && continueAt === undefined && html`<p>The login of the command line has ended, too. Please start it again once this is fixed.</p>`}`;
}

function retryWay({ retryPath }: FailureView): Html {
  return html`<a class="button primary" href="${retryPath}">Try again</a>`;
}

/** Choices for problems with the account: without one, the provider would silently use the same account again. */
function accountWays(view: FailureView): Html {
  const { otherAccountPath, providerSignOut, retryPath } = view;
  if (otherAccountPath === undefined) return retryWay(view);
  return html`<div class="stack">
      <a class="button primary" href="${otherAccountPath}">Use another account</a>
      ${
        providerSignOut !== undefined &&
        html`<a class="button" href="${providerSignOut}" rel="noreferrer">Sign out at the identity provider</a>`
      }
    </div>
    <p class="quiet"><a href="${retryPath}">Try again with this account</a></p>`;
}

function tenantWays({ publicUrl }: FailureView): Html {
  return html`<a class="button primary" href="/login?tenant=">Choose another tenant</a>
    <section>
      <h2>Without an identity provider</h2>
      ${withoutProvider(publicUrl)}
    </section>
    <section>
      <h2>For administrators</h2>
      <p class="quiet">
        People sign in here once the tenant has an OIDC service and roles: <code>keystorectl create oidc --help</code> and
        <code>keystorectl create oidc-roles --help</code> say how. The <a href="/v1/docs">description of the API</a> lists the fields.
      </p>
    </section>`;
}
