// The page of a sign-in that did not work: what it means, what to do, and the reference an administrator finds in the log.
import type { Reply } from '../../../core/http/endpoint.ts';
import type { FailureRow } from '../failures.ts';
import { html } from './html.ts';
import { pageReply } from './layout.ts';

export type FailureView = {
  readonly row: Pick<FailureRow, 'status' | 'headline' | 'advice'>;
  readonly reference: string;
  /** where to start again */
  readonly retryPath: string;
  /** who the provider says it is, when that is known: helps to see that the wrong account is signed in there */
  readonly username?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** the address where this system's sign-ins begin, when the person came by another */
  readonly properAddress?: string | undefined;
};

export function failurePage(view: FailureView): Reply {
  const { row, reference, retryPath, username, retryAfterSeconds, properAddress } = view;
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return pageReply(
    row.status,
    {
      title: row.headline,
      main: html`<h1>${row.headline}</h1>
        <p>${row.advice}</p>
        ${properAddress !== undefined && html`<p class="notice">Sign-in works at <a href="${properAddress}">${properAddress}</a></p>`}
        <dl>
          ${
            username !== undefined &&
            html`<dt>Account</dt>
              <dd>${username}</dd>`
          }
          <dt class="wide">Reference</dt>
          <dd class="wide"><code>${reference}</code></dd>
        </dl>
        <a class="button primary" href="${retryPath}">Try again</a>`,
      footer: html`Give the reference to your administrator: the reason stands under it in the log.`,
    },
    headers,
  );
}
