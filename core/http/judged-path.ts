// The path that policies judge: that of the request, or of the single action in place of its batch.
import type { AnyEndpoint } from './endpoint.ts';

/** Segments of a path of this endpoint, as policies see them. */
export function judgedSegments<Segment>(endpoint: AnyEndpoint, segments: readonly Segment[]): readonly (Segment | string)[] {
  if (endpoint.access === 'public' || endpoint.judgedAs === undefined) return segments;
  return [...segments.slice(0, -1), endpoint.judgedAs.action];
}
