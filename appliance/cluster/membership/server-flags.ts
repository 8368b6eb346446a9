// The flags of our own member of etcd. Not its configuration file, which has no place for revocation lists.
import { isIP } from 'node:net';
import type { MemberConfig } from '../../../core/config/cluster.ts';
import type { memberFiles, Membership } from './files.ts';

/** `https://10.0.0.1:2379`, `https://[fd00::1]:2380` */
export function urlsOf({ address, clientPort, peerPort }: Pick<MemberConfig, 'address' | 'clientPort' | 'peerPort'>): {
  readonly clientUrl: string;
  readonly peerUrl: string;
} {
  const host = isIP(address) === 6 ? `[${address}]` : address;
  return { clientUrl: `https://${host}:${clientPort}`, peerUrl: `https://${host}:${peerPort}` };
}

export type ServerPlan = {
  /** id of the appliance */
  readonly name: string;
  readonly membership: Membership;
  /** peer URLs by name, itself included: of a server that has no data yet */
  readonly initial: ReadonlyMap<string, string>;
  readonly metricsPort?: number | undefined;
};

/**
 * 50/500 ms: changes wait for as long as an election takes. Compaction leaves half an hour, the longest that a member may be away without a
 * new load.
 */
export function serverFlags(files: ReturnType<typeof memberFiles>, { name, membership, initial, metricsPort }: ServerPlan): string[] {
  const { clientUrl, peerUrl, cluster, step } = membership;
  const [client, peer] = [files.ofRole('client'), files.ofRole('peer')];
  const flags: Readonly<Record<string, string | number>> = {
    name,
    'data-dir': files.etcd,
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': Array.from(initial, ([one, url]) => `${one}=${url}`).join(','),
    'initial-cluster-state': step === 'founding' ? 'new' : 'existing',
    'initial-cluster-token': cluster,
    'client-cert-auth': 'true',
    'cert-file': client.certificate,
    'key-file': client.key,
    'trusted-ca-file': client.authority,
    'client-crl-file': client.revocations,
    'peer-client-cert-auth': 'true',
    'peer-cert-file': peer.certificate,
    'peer-key-file': peer.key,
    'peer-trusted-ca-file': peer.authority,
    'peer-crl-file': peer.revocations,
    'tls-min-version': 'TLS1.3',
    'heartbeat-interval': 50,
    'election-timeout': 500,
    'max-txn-ops': 4_096,
    'max-request-bytes': 4 << 20,
    'quota-backend-bytes': 8 * 2 ** 30,
    'auto-compaction-mode': 'periodic',
    'auto-compaction-retention': '30m',
    'snapshot-count': 5_000,
    'grpc-keepalive-min-time': '500ms',
    'feature-gates': 'InitialCorruptCheck=true,CompactHashCheck=true',
    // Its gateway would be a client of itself.
    'enable-grpc-gateway': 'false',
    'log-level': 'warn',
    'log-outputs': 'stderr',
    ...(metricsPort === undefined ? {} : { 'listen-metrics-urls': `http://127.0.0.1:${metricsPort}` }),
  };
  return Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
}
