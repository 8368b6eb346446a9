// Part of a topic that one answer searches, and the start of the next one.
import { defined } from '../../base/defined.ts';
import { reachOf } from '../../log/topic-reach.ts';
import { readTopic, type TopicOptions } from '../../log/topic.ts';
import type { EndpointCall } from '../../http/endpoint.ts';

/** Changed parameters of the request for the next answer. */
export type Next = Readonly<Partial<Record<'since' | 'before' | 'limit', string>>>;

type Topic = Omit<TopicOptions, 'signal'>;

/** For the API description. */
export const linkHeader = {
  description: 'Where the search goes on, as `<...>; rel="next"` (RFC 8288); absent when this was all.',
  schema: { type: 'string', examples: ['</v1/state/topics/system:audit-trail-log?who=ada&since=2026-01-31T12%3A00%3A00Z>; rel="next"'] },
} as const;

/**
 * For a tenant, or a reader who asks for some records only, others are read in vain: an answer that would need too
 * much of that gets the part from where it begins. One that is followed goes back no further than that; with a time to begin at, it is followed
 * by the answer that reaches the end.
 */
export async function partOf(topic: Topic, signal: AbortSignal): Promise<{ readonly topic: Topic; readonly next?: Next }> {
  const { directory, since, before, limit, only, follow } = topic;
  if (only === undefined) return { topic };
  const isBackwards = since === undefined && (limit !== undefined || follow === true);
  const reach = await reachOf({ directory, ...defined({ since, before }), isBackwards });
  if (reach === undefined) return { topic };
  const part = isBackwards
    ? { ...topic, ...(limit === undefined ? { since: reach } : { notBefore: reach }) }
    : { ...topic, before: reach, follow: false };
  if (follow === true && isBackwards) return { topic: part };
  const left = limit === undefined ? undefined : limit - (await countOf({ ...part, signal }));
  if (left !== undefined && left <= 0) return { topic: part };
  return { topic: part, next: { [isBackwards ? 'before' : 'since']: reach, ...(left === undefined ? {} : { limit: String(left) }) } };
}

async function countOf(topic: TopicOptions): Promise<number> {
  let count = 0;
  for await (const { text } of readTopic(topic)) count += text === '' ? 0 : 1;
  return count;
}

/** Link to the next part. */
export function nextLink({ params, query }: EndpointCall, next: Next): string {
  const parameters = new URLSearchParams([...query].filter(([name]) => !Object.hasOwn(next, name)));
  for (const [name, value] of Object.entries(next)) parameters.set(name, value);
  return `</v1/state/topics/${encodeURIComponent(params['topic'] ?? '')}?${parameters.toString()}>; rel="next"`;
}
