// Path that policies judge: that of the request, or for a batch that of the single action.
import type { AnyEndpoint } from './endpoint.ts';

/** Segments of a path of this endpoint for policies. */
export function judgedSegments<Segment>(endpoint: AnyEndpoint, segments: readonly Segment[]): readonly (Segment | string)[] {
  if (endpoint.access === 'public' || endpoint.judgedAs === undefined) return segments;
  return [...segments.slice(0, -1), endpoint.judgedAs.action];
}
