// How etcd is started: what the promises of a cluster hang on is not left to its defaults.
import { expect, test } from 'vitest';
import { memberFiles } from '../../../../appliance/cluster/membership/files.ts';
import { serverFlags, urlsOf } from '../../../../appliance/cluster/membership/server-flags.ts';

const ports = { clientPort: 2379, peerPort: 2380 };
const flagsOf = (address: string, step: 'founding' | 'joining'): string[] =>
  serverFlags(memberFiles('/data'), {
    name: 'id-b',
    membership: { step, cluster: 'one', ...urlsOf({ address, ...ports }) },
    initial: new Map([
      ['id-a', 'https://192.0.2.11:2380'],
      ['id-b', urlsOf({ address, ...ports }).peerUrl],
    ]),
  });

test('both ports ask for certificates of a CA of their own, over TLS 1.3, and look at its revocations', () => {
  const flags = flagsOf('192.0.2.12', 'joining');
  for (const flag of [
    ...['--client-cert-auth=true', '--peer-client-cert-auth=true', '--tls-min-version=TLS1.3'],
    ...['--trusted-ca-file=/data/member/client-ca.pem', '--peer-trusted-ca-file=/data/member/peer-ca.pem'],
    ...['--client-crl-file=/data/member/client.crl', '--peer-crl-file=/data/member/peer.crl'],
  ]) {
    expect(flags).toContain(flag);
  }
  expect(flags.filter((flag) => flag.includes('http:'))).toEqual([]);
});

test('it listens where the others reach it and nowhere else', () => {
  expect(flagsOf('fd00::12', 'joining')).toEqual(
    expect.arrayContaining(['--listen-client-urls=https://[fd00::12]:2379', '--listen-peer-urls=https://[fd00::12]:2380']),
  );
});

test('the first one makes an etcd, every other one joins that', () => {
  expect(flagsOf('192.0.2.12', 'founding')).toContain('--initial-cluster-state=new');
  expect(flagsOf('192.0.2.12', 'joining')).toEqual(
    expect.arrayContaining([
      '--initial-cluster-state=existing',
      '--initial-cluster=id-a=https://192.0.2.11:2380,id-b=https://192.0.2.12:2380',
    ]),
  );
});
