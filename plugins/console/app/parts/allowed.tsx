// A link to something that the policies may forbid: then it cannot be followed, and says why.
import type { ComponentChildren } from 'preact';
import { may } from '../api/may.ts';
import { capital } from '../description/catalog.ts';

export type AllowedProps = {
  readonly operation: string | undefined;
  /** path of the request in question */
  readonly path: string;
  readonly href: string;
  /** another reason for which it cannot be followed, with the way out */
  readonly lacks?: string | undefined;
  readonly look?: 'button' | 'button primary' | 'button danger';
  /** called before it is followed, such as to prepare the form there */
  readonly onFollow?: (() => void) | undefined;
  readonly children: ComponentChildren;
};

export function AllowedLink({ operation, path, href, lacks, look = 'button', onFollow, children }: AllowedProps): ComponentChildren {
  const said = may(operation, path).value;
  const reason = typeof said === 'object' ? `not allowed: ${said.no}` : lacks;
  if (reason !== undefined) {
    return (
      <span class={`${look} off`} role="link" aria-disabled="true" tabIndex={0} title={capital(reason)}>
        {children}
        <span class="unseen"> ({reason})</span>
      </span>
    );
  }
  return (
    <a class={look} href={href} onClick={onFollow}>
      {children}
    </a>
  );
}
