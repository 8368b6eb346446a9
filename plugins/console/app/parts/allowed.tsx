// A link to something that the policies may forbid: then it cannot be followed, and says why.
import type { ComponentChildren } from 'preact';
import { may } from '../api/may.ts';

export type AllowedProps = {
  readonly operation: string | undefined;
  /** path of the request in question */
  readonly path: string;
  readonly href: string;
  readonly look?: 'button' | 'button primary' | 'button danger';
  readonly children: ComponentChildren;
};

export function AllowedLink({ operation, path, href, look = 'button', children }: AllowedProps): ComponentChildren {
  const said = may(operation, path).value;
  if (typeof said === 'object') {
    return (
      <span class={`${look} off`} role="link" aria-disabled="true" tabIndex={0} title={`Not allowed: ${said.no}`}>
        {children}
        <span class="unseen"> (not allowed: {said.no})</span>
      </span>
    );
  }
  return (
    <a class={look} href={href}>
      {children}
    </a>
  );
}
