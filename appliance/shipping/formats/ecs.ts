// Records in the Elastic Common Schema (ECS 8): names that rules of a SIEM know.
import { defined } from '../../../core/base/defined.ts';
import type { JsonObject, JsonValue } from '../../../core/wire/json.ts';
import type { ShippedRecord } from './records.ts';

/** Category and type by the kind of the audit record and the method. */
const categories: Readonly<Record<string, readonly string[]>> = {
  login: ['authentication'],
  est: ['iam'],
  rotation: ['configuration'],
  console: ['configuration'],
  trail: ['process'],
  head: ['process'],
};

const types: Readonly<Record<string, string>> = { GET: 'access', PUT: 'change', PATCH: 'change', DELETE: 'deletion' };

/** The record as one ECS document; `event.original` is the whole record as it is in the trail, so that its digest can be checked. */
export function ecsOf(
  { source, stream, kind, occurredAt, severity, id, sequence, digest, text, record }: ShippedRecord,
  withOriginal = true,
): JsonObject {
  const field = (name: string): JsonValue | undefined => record[name];
  const { status, method, path } = record;
  const milliseconds = field('request-time-ms');
  return {
    '@timestamp': occurredAt,
    ecs: { version: '8.17.0' },
    message: messageOf(record, kind),
    event: {
      ...{ kind: 'event', module: 'keystored', dataset: `keystored.${source}`, provider: stream, id },
      ...(withOriginal ? { original: text } : {}),
      action: actionOf(record, kind),
      ...(source === 'audit'
        ? {
            category: categories[kind] ?? ['iam', 'configuration'],
            type: [(typeof method === 'string' ? types[method] : undefined) ?? 'info'],
          }
        : {}),
      ...(typeof status === 'number' ? { outcome: status < 400 ? 'success' : 'failure' } : {}),
      ...(typeof milliseconds === 'number' ? { duration: Math.round(milliseconds * 1e6) } : {}),
      ...defined({ sequence, hash: digest }),
    },
    log: { level: severity.text.toLowerCase() },
    service: { type: 'keystored' },
    ...group('user', { name: field('user'), id: field('accessor'), domain: field('user-source') }),
    ...group('organization', { id: field('tenant-id'), name: field('tenant') }),
    ...group('source', { ip: field('client-ip') }),
    ...group('user_agent', { original: field('user-agent') }),
    ...group('url', { path }),
    ...group('error', { code: field('code') }),
    ...(method === undefined && status === undefined
      ? {}
      : {
          http: {
            ...group('request', { method, id: field('request-id') }),
            ...group('response', { status_code: status }),
          },
        }),
  };
}

/** Words for requests that name no action. */
const words: Readonly<Record<string, string>> = { GET: 'read', POST: 'create', PUT: 'replace', PATCH: 'change', DELETE: 'delete' };

/** No action of the API is longer; a path that nothing answers may be. */
const longestAction = 64;

/** The action in one word without names: `encrypt`, the last word of an action; `change`; `trail.opened`; or the kind. */
export function actionOf({ path, method, event }: JsonObject, kind: string): string {
  if (typeof event === 'string') return `${kind}.${event}`;
  if (typeof path !== 'string' || typeof method !== 'string') return kind;
  const isAction = method === 'POST' && !path.startsWith('/v1/config/');
  return ((isAction ? path.split('/').at(-1)?.slice(0, longestAction) : words[method]) ?? kind).toWellFormed();
}

function group(name: string, fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const given = Object.entries(fields).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
  return given.length === 0 ? {} : { [name]: Object.fromEntries(given) };
}

/** One line for people. */
function messageOf({ message, method, path }: JsonObject, kind: string): string {
  if (typeof message === 'string') return message;
  return [kind, method, path].filter((part) => typeof part === 'string').join(' ');
}
