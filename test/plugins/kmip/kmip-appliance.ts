// An appliance with the listener of KMIP open, and clients with certificates that it knows: real token, store, audit trail and TLS.
import { hash, X509Certificate } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
import { TestClock } from '../../harness/clock.ts';
import type { AnyPlugin } from '../../../core/plugin/plugin.ts';
import { provide } from '../../../core/plugin/service.ts';
import { type ListenerName, type Listeners, listenersService, type OpenListener } from '../../../core/plugin/services/listeners.ts';
import ca from '../../../plugins/ca/index.ts';
import kmip from '../../../plugins/kmip/index.ts';
import transit from '../../../plugins/transit/index.ts';
import { startTestAppliance, type TestAppliance, type TestApplianceOptions } from '../../harness/appliance.ts';
import { freePort } from '../../harness/daemon.ts';
import { connectKmip, type KmipClient } from '../../harness/kmip/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

/** Key and certificate of a client, PEM. */
export type KmipIdentity = { readonly key: string; readonly cert: string };

export type KmipAppliance = TestAppliance & {
  readonly clock: TestClock;
  readonly port: number;
  /** what clients trust */
  readonly caPem: string;
  readonly open: ReadonlyMap<ListenerName, OpenListener>;
  setSealed(sealed: boolean): void;
  /** A request of the root token; fails the test unless it succeeds. */
  must(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Makes a space. */
  makeSpace(name: string, fields?: object): Promise<void>;
  /** Makes a client entry with a certificate of its own. */
  makeClient(name: string, space: string, fields?: object): Promise<KmipIdentity>;
  /** Connects as a client; closed with the test file. */
  connect(identity: KmipIdentity | undefined, version?: string): Promise<KmipClient>;
};

const spaces = '/v1/config/keystore/kmip-spaces';
export const clients = '/v1/config/keystore/kmip-clients';

/** Starts one for a test file and closes it afterwards, with every invariant checked. */
export async function startKmipAppliance(
  plugins: readonly AnyPlugin[] = [],
  { section = {}, others = {}, ...more }: Partial<TestApplianceOptions> & { readonly section?: object; readonly others?: object } = {},
): Promise<KmipAppliance> {
  const path = temporaryDirectory();
  for (const name of ['tls', 'appliance']) mkdirSync(path(name));
  const identity = selfSignedIdentity(path('tls'));
  const port = await freePort();
  let sealed = false;
  const open = new Map<ListenerName, OpenListener>();
  const listeners: Listeners = {
    serving: true,
    est: { host: '127.0.0.1', port: await freePort() },
    hosts: ['localhost', '127.0.0.1'],
    managementUrl: 'https://keystore.example:4646',
    onOpen: (name, listener) => void open.set(name, listener),
    sealed: () => sealed,
    begin: () => (sealed ? undefined : () => undefined),
    identity: () => identity,
    onIdentityChange: () => () => undefined,
  };
  // Certificates that are made later must have begun.
  const clock = new TestClock(Temporal.Now.instant().add({ hours: 1 }).toString());
  const appliance = await startTestAppliance({
    directory: path('appliance'),
    plugins: [transit, ca, kmip, ...plugins],
    services: [provide(listenersService, listeners)],
    configuration: { kmip: { listen: `127.0.0.1:${port}`, ...section }, ...others },
    clock,
    ...more,
  });
  const connected: KmipClient[] = [];
  afterAll(async () => {
    for (const client of connected) client.close();
    expect(await appliance.check()).toEqual([]);
    await appliance.close();
  });
  const must: KmipAppliance['must'] = async (method, where, body) => {
    const answer = await appliance.request(method, where, body);
    expect({ where, status: answer.status, body: answer.body as unknown }).toMatchObject({ status: expect.toBeOneOf([200, 201, 204]) });
    return answer.body;
  };
  let made = 0;
  return {
    ...appliance,
    clock,
    ...{ port, caPem: identity.cert, open, must },
    setSealed: (value) => {
      sealed = value;
    },
    makeSpace: async (name, fields = {}) => void (await must('POST', spaces, { name, ...fields })),
    async makeClient(name, space, fields = {}) {
      const directory = path(`client-${++made}`);
      mkdirSync(directory);
      const own = selfSignedIdentity(directory);
      const fingerprint = hash('sha256', new X509Certificate(own.cert).raw, 'hex');
      await must('POST', clients, { name, space, fingerprints: [fingerprint], 'token-policies': ['root'], ...fields });
      return own;
    },
    async connect(own, version) {
      const client = await connectKmip({ port, ca: identity.cert, ...own, ...(version === undefined ? {} : { version }) });
      connected.push(client);
      return client;
    },
  };
}
