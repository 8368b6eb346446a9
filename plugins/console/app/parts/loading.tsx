// Placeholder of content that is loading. What follows it is not drawn meanwhile, so that nothing moves when the content comes.
import type { ComponentChildren } from 'preact';

export function Loading(): ComponentChildren {
  return (
    <div class="skeleton" role="status">
      <p class="quiet">Loading …</p>
      <span aria-hidden="true" />
      <span aria-hidden="true" />
      <span aria-hidden="true" />
    </div>
  );
}
