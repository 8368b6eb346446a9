// A refusal of the API in its own words: what, how to mend it, code and request id.
import type { ComponentChildren, Ref } from 'preact';
import { Refusal } from '../api/request.ts';
import { visible } from './visible.ts';

export type ProblemProps = {
  readonly error: unknown;
  /** target of the link at a finding about a field */
  readonly linkTo?: ((field: string) => string | undefined) | undefined;
  readonly focus?: Ref<HTMLElement> | undefined;
};

export function Problem({ error, linkTo, focus = null }: ProblemProps): ComponentChildren {
  if (!(error instanceof Refusal)) {
    return (
      <section class="problem" role="alert" tabIndex={-1} ref={focus}>
        <h2>The console failed</h2>
        <p>Load the page again. Tell us if it happens again: {visible(error instanceof Error ? error.message : String(error))}</p>
      </section>
    );
  }
  const { message, detail, findings, code, requestId, status } = error;
  return (
    <section class={status === 403 ? 'problem denied' : 'problem'} role="alert" tabIndex={-1} ref={focus}>
      <h2>{visible(message)}</h2>
      {detail !== undefined && <p>{visible(detail)}</p>}
      <ul>
        {findings
          .filter((one) => one.message !== detail)
          .map(({ message, info }, index) => {
            const link = info === undefined ? undefined : linkTo?.(info);
            return (
              <li key={index}>
                {info !== undefined && (link === undefined ? <code>{visible(info)}</code> : <a href={link}>{visible(info)}</a>)}{' '}
                {visible(message)}
              </li>
            );
          })}
      </ul>
      {code === 'sealed' && (
        <a class="button" href="/unseal" data-server="">
          Unseal it
        </a>
      )}
      <p class="quiet">
        Code <code>{visible(code)}</code>
        {requestId !== undefined && (
          <>
            , request <code>{visible(requestId)}</code>
          </>
        )}
      </p>
    </section>
  );
}
