// Target of a request: the CA, the operation, and the URL that clients see.
import { readRequestPath } from '../../../core/http/request/path.ts';
import type { Acme, Site } from '../context.ts';
import { type Operation, operations } from '../operations/operations.ts';

export type Target = Site & {
  readonly name: string;
  readonly operation: Operation;
  readonly params: readonly string[];
  readonly url: string;
};

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** `/acme/<tenant_uuid>/<ca_name>/<operation>`. Unknown, foreign and disabled are one answer. `host`: of the request. */
export function findTarget({ authorities }: Pick<Acme, 'authorities'>, url: string, host: string): Target | undefined {
  const path = readRequestPath(url)?.segments ?? [];
  const [acme, tenantId = '', caName = '', ...rest] = path;
  if (acme !== 'acme' || !uuid.test(tenantId)) return undefined;
  const found = findOperation(rest);
  const ca = found === undefined ? undefined : authorities.find(tenantId, caName);
  const settings = ca?.enrolment('acme')?.acme;
  if (found === undefined || ca === undefined || settings === undefined) return undefined;
  const base = `https://${host}/acme/${tenantId}/${caName}`;
  return { ...found, ca, settings, base, url: [base, ...rest].join('/') };
}

/** Tells whether a segment can be an id, a serial number or the name of a certificate: keys of the store have a limit. */
export function isParameter(segment: string): boolean {
  return /^[\w.-]{1,150}$/.test(segment);
}

function findOperation(rest: readonly string[]): Pick<Target, 'name' | 'operation' | 'params'> | undefined {
  for (const [name, operation] of operations) {
    const pattern = name.split('/');
    if (
      pattern.length !== rest.length ||
      !pattern.every((part, index) => (part === '*' ? isParameter(rest[index] ?? '') : part === rest[index]))
    )
      continue;
    return { name, operation, params: rest.filter((_part, index) => pattern[index] === '*') };
  }
  return undefined;
}

/**
 * The host of a request, if it is one of those of the appliance, whatever the port: a proxy may have another one. A message for another host is not
 * for this service, and would be if URLs were made of any host (RFC 8555 section 6.4).
 */
export function ownHost(host: string | undefined, origins: readonly string[]): string | undefined {
  const written = host?.toLowerCase() ?? '';
  if (!/^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.test(written)) return undefined;
  const name = written.replace(/:\d+$/, '');
  return origins.some((origin) => new URL(origin).hostname === name) ? written : undefined;
}
