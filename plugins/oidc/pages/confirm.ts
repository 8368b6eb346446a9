// The approval page of a CLI login: the person compares the code, then approves or denies.
import type { Reply } from '../../../core/http/endpoint.ts';
import { html } from '../../../core/http/pages/html.ts';
import { formatMoment, pageReply } from '../../../core/http/pages/frame.ts';

export type ConfirmView = {
  readonly userCode: string;
  readonly username: string;
  readonly tenant: string;
  readonly policies: readonly string[];
  readonly clientIp: string;
  readonly userAgent: string;
  readonly requestedAt: Temporal.Instant;
  /** the command line has another network address than this browser */
  readonly elsewhere: boolean;
  readonly request: string;
  readonly formToken: string;
};

/** An attacker may have sent the person a link to the attacker's own CLI login, so the page shows everything that reveals it. */
export function confirmPage(view: ConfirmView): Reply {
  return pageReply(200, {
    title: 'Approve a command line',
    main: html`<h1>Approve a command line?</h1>
      <p>
        A program asks to work as <strong>${view.username}</strong> in <strong>${view.tenant}</strong>. Approve only if you started it
        yourself and it shows this code:
      </p>
      <code class="code big">${view.userCode}</code>
      ${
        view.elsewhere &&
        html`<p class="notice">
          The program runs at another network address than this browser. If someone sent you a link to this page, deny.
        </p>`
      }
      <dl>
        <dt>Asked from</dt>
        <dd>${view.clientIp}</dd>
        <dt>Program</dt>
        <dd>${view.userAgent === '' ? 'not named' : view.userAgent}</dd>
        <dt>Asked at</dt>
        <dd>${formatMoment(view.requestedAt)}</dd>
        <dt>It may use</dt>
        <dd>${view.policies.length === 0 ? 'no policies' : view.policies.join(', ')}</dd>
      </dl>
      <form class="pair" action="/login/confirm" method="post">
        <input type="hidden" name="request" value="${view.request}" />
        <input type="hidden" name="form-token" value="${view.formToken}" />
        <button class="button" type="submit" name="decision" value="deny">Deny</button>
        <button class="button primary" type="submit" name="decision" value="approve">Approve</button>
      </form>`,
  });
}

export function decidedPage(approved: boolean): Reply {
  return pageReply(200, {
    title: approved ? 'Approved' : 'Denied',
    main: approved
      ? html`<h1>Approved</h1>
          <p>The command line gets its token within seconds. You can close this page.</p>`
      : html`<h1>Denied</h1>
          <p>
            The command line gets no token. If you did not start it, tell your administrator: someone may have tried to act in your name.
          </p>`,
  });
}
