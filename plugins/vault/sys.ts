// Requests of clients about the service itself: health, seal, leader, mounts.
import { createHash } from 'node:crypto';
import type { Alias } from '../../core/http/alias.ts';
import type { JsonObject } from '../../core/wire/json.ts';
import { type Facade, json } from './facade.ts';
import { healthDocument, sealDocument, wantedStatus } from './sealed-sys.ts';

const health = { of: 'GET /v1/state/system/health', target: () => ({ params: {} }) };

export function sysAliases(facade: Facade): readonly Alias[] {
  const fixed = (path: string, document: JsonObject): readonly Alias[] =>
    facade.aliases({ methods: ['GET'], path: `/v1/sys/${path}`, ...health, answer: () => json(200, document) });
  return [
    ...facade.aliases({
      methods: ['GET', 'HEAD'],
      path: '/v1/sys/health',
      ...health,
      answer: ({ status }, { query }) => json(statusOf(status, query), healthDocument(false, facade.clock.now())),
    }),
    ...fixed('seal-status', sealDocument(false)),
    ...fixed('leader', { ha_enabled: false, is_self: true, leader_address: '', leader_cluster_address: '', performance_standby: false }),
    ...fixed('init', { initialized: true }),
    ...mountAliases(facade),
  ];
}

/** Replaces a status below 400 by 200, or by the one that the client wants; an error keeps its status. */
function statusOf(status: number, query: URLSearchParams): number {
  return status < 400 ? wantedStatus(query, 'activecode', 200) : status;
}

/** Paths of the transit keys and the logins; for callers with a token, as there. */
function mountAliases(facade: Facade): readonly Alias[] {
  const own = { of: 'POST /v1/state/keystore/token/info', target: () => ({ params: {} }) };
  const engines = [
    ...facade.transitMounts.map((path) => ['transit', path] as const),
    ...Object.keys(facade.pkiMounts).map((path) => ['pki', path] as const),
  ];
  const secret = Object.fromEntries(engines.map(([type, path]) => [`${path}/`, mountOf(type, path)]));
  const auth = Object.fromEntries([
    ...facade.approleMounts.map((path) => [`${path}/`, mountOf('approle', path)] as const),
    ['token/', mountOf('token', 'token')],
  ]);
  const both = (path: string, data: JsonObject): readonly Alias[] =>
    facade.aliases({
      methods: ['GET'],
      path: `/v1/sys/${path}`,
      ...own,
      answer: ({ requestId }, asked) => facade.envelopedTwice(asked, requestId, data),
    });
  return [
    ...both('mounts', secret),
    ...both('auth', auth),
    ...facade.aliases({
      methods: ['GET'],
      path: '/v1/sys/internal/ui/mounts',
      ...own,
      answer: ({ requestId }, asked) => facade.enveloped(asked, requestId, { data: { secret, auth } }),
    }),
    ...engines.flatMap(([type, mount]) =>
      facade.aliases({
        methods: ['GET'],
        path: `/v1/sys/internal/ui/mounts/${mount}/{path*}`,
        ...own,
        answer: ({ requestId }, asked) => facade.enveloped(asked, requestId, { data: { ...mountOf(type, mount), path: `${mount}/` } }),
      }),
    ),
  ];
}

function mountOf(type: string, path: string): JsonObject {
  const id = createHash('sha256').update(`${type}:${path}`).digest('hex');
  return {
    ...{
      type,
      description: '',
      accessor: `${type}_${id.slice(0, 8)}`,
      local: false,
      seal_wrap: false,
      external_entropy_access: false,
      options: {},
    },
    uuid: [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20, 32)].join('-'),
    config: { default_lease_ttl: 0, max_lease_ttl: 0, force_no_cache: false },
  };
}
