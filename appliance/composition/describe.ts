// The API description of this version without a running appliance: the plugins are composed, and nothing is asked of a token.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Audit } from '../../core/audit/record.ts';
import type { Log } from '../../core/base/context.ts';
import { Secret } from '../../core/base/secret.ts';
import { systemClock } from '../../core/base/time.ts';
import type { OpenApiDocument } from '../../core/http/description/document.ts';
import { provide } from '../../core/plugin/service.ts';
import { type Listeners, listenersService } from '../../core/plugin/services/listeners.ts';
import { openStore } from '../../core/store/open.ts';
import type { Hsm } from '../../hsm/api.ts';
import type { Backups } from '../backup/run/backups.ts';
import type { Drills } from '../backup/drills/drills.ts';
import type { ClockWatch } from '../machine/clock-watch.ts';
import type { Membership } from '../cluster/membership/membership.ts';
import { plugins } from '../plugins.ts';
import { compose, type Parts } from './compose.ts';

/**
 * The answer of `GET /v1/openapi.json` of an appliance of this version. The plugins are started over an empty store in a directory of its
 * own, which is removed; a plugin that would use a token or the audit trail to describe itself makes this reject.
 */
export async function describeAppliance(): Promise<OpenApiDocument> {
  const directory = mkdtempSync(join(tmpdir(), 'keystored-description-'));
  try {
    const store = await openStore({ directory: join(directory, 'store'), dataKey: new Secret(new Uint8Array(randomBytes(32))) });
    try {
      await store.migrate('core', []);
      const composed = await compose({
        plugins,
        store,
        hsm: absentHsm,
        audit: absent<Audit>('audit trail'),
        log: silent,
        clock: systemClock,
        configurationOf: (name) => plugins.find((plugin) => plugin.name === name)?.config.parse({}),
        services: [provide(listenersService, closedListeners)],
        topics: { audit: directory, logs: directory },
        system: absentSystem(directory),
      });
      try {
        // As a client reads it: members that are undefined are not in it.
        return JSON.parse(JSON.stringify(composed.app.openapi())) as OpenApiDocument;
      } finally {
        await composed.stop();
      }
    } finally {
      await store.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Something that a description never uses: each of its functions throws. */
function absent<T extends object>(name: string): T {
  return new Proxy({} as T, {
    get: (_, member) => () => {
      throw new Error(`there is no ${name} while the API is described, and ${String(member)} was asked of it`);
    },
  });
}

const absentHsm: Hsm = withMembers(absent<Hsm>('token'), {
  wrappingKeys: withMembers(absent<Hsm['wrappingKeys']>('wrapping key'), { follow: ignore }),
  offers: () => true,
  takesNonces: () => true,
  agreeOn: ignore,
  mechanismFor: String,
  status: () => [],
});

/** Objects, not proxies, where the parts take them apart. */
function absentSystem(directory: string): NonNullable<Parts['system']> {
  const ask = (): never => {
    throw new Error('no process of an appliance runs while the API is described');
  };
  return {
    ...{ directory, tokens: [], settleMs: 0, cluster: undefined, operationsSocket: join(directory, 'operate') },
    clockWatch: withMembers(absent<ClockWatch>('clock watch'), { held: (job) => job }),
    backups: withMembers(absent<Backups>('backup'), { job: undefined }),
    drills: withMembers(absent<Drills>('drill'), { job: { name: 'drill-uploads', everySeconds: 600, run: () => Promise.resolve() } }),
    membership: absent<Membership>('membership'),
    notices: {},
    pinOrigin: () => ({ opensByItself: true, pins: [], pinFiles: [] }),
    metrics: { onAnswered: ignore },
    shipping: { ...{ data: directory, clock: systemClock, destinations: [] }, behind: ignore, live: ask, test: ask },
    ...{ snapshots: ask, activity: ask, workerReports: ask, seal: ask },
  };
}

function withMembers<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, { get: (_, member) => Reflect.get(member in members ? members : target, member) as unknown });
}

const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore, with: () => silent };

function ignore(): undefined {}

const closedListeners: Listeners = {
  serving: false,
  est: { host: 'localhost', port: 4665 },
  hosts: ['localhost'],
  managementUrl: 'https://localhost:4646',
  sealed: () => false,
  identity: () => ({ key: '', cert: '' }),
  onIdentityChange: () => ignore,
};
