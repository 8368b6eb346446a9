// Placeholder of content that is loading.
import type { ComponentChildren } from 'preact';

export function Loading(): ComponentChildren {
  return (
    <p role="status" class="quiet">
      Loading …
    </p>
  );
}
