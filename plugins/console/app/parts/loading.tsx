// Placeholder of content that is loading. What follows it is not drawn meanwhile, so that nothing moves when the content comes.
import type { ComponentChildren } from 'preact';
import type { Loaded } from './loaded.ts';
import { Problem } from './problem.tsx';

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

/** In place of an answer that is not there: that it is on its way, or the refusal. */
export function Awaited({ loaded }: { readonly loaded: Loaded }): ComponentChildren {
  if (loaded.state === 'loading') return <Loading />;
  return loaded.state === 'failed' ? <Problem error={loaded.error} /> : null;
}
