// Authorities and certificates for etcd and its clients, made with openssl below a directory.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { EtcdClient } from '../../core/etcd/client.ts';
import type { EtcdOptions } from './etcd.ts';

/** Paths below a directory, as temporaryDirectory() answers them. */
type Paths = (...names: string[]) => string;

type Authorities = {
  /** `NAME.pem` and `NAME-key.pem` */
  makeAuthority(name: string): void;
  /** For both ends: etcd's own gateway is a client of itself. */
  issue(name: string, authority: string, address?: string): void;
  clientWith(authority: string, identity: string, endpoints: readonly string[]): EtcdClient;
};

export function authoritiesIn(path: Paths): Authorities {
  mkdirSync(path(), { recursive: true });
  const requestFor = (name: string): string[] => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${name}`];
  return {
    makeAuthority: (name) =>
      openssl('req', '-x509', ...requestFor(name), '-days', '2', '-keyout', path(`${name}-key.pem`), '-out', path(`${name}.pem`)),
    issue(name, authority, address = '127.0.0.1') {
      openssl('req', ...requestFor(name), '-keyout', path(`${name}-key.pem`), '-out', path(`${name}.csr`));
      const extensions = path('extensions');
      writeFileSync(extensions, `subjectAltName=IP:${address},DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n`);
      openssl(
        ...['x509', '-req', '-in', path(`${name}.csr`), '-days', '2', '-extfile', extensions, '-out', path(`${name}.pem`)],
        ...['-CA', path(`${authority}.pem`), '-CAkey', path(`${authority}-key.pem`), '-CAcreateserial'],
      );
    },
    clientWith: (authority, identity, endpoints) =>
      new EtcdClient({
        ...{ endpoints, nowMs: () => performance.now() },
        tls: {
          ca: readFileSync(path(`${authority}.pem`)),
          certificate: readFileSync(path(`${identity}.pem`)),
          key: readFileSync(path(`${identity}-key.pem`)),
        },
      }),
  };
}

/** Clients need a certificate: an authority `ours` with certificates `server` and `appliance`. */
export function securedIn(path: Paths): NonNullable<EtcdOptions['secure']> & Authorities {
  const authorities = authoritiesIn(path);
  authorities.makeAuthority('ours');
  authorities.issue('server', 'ours');
  authorities.issue('appliance', 'ours');
  return {
    ...authorities,
    ...{ certificate: path('server.pem'), key: path('server-key.pem'), ca: path('ours.pem') },
    client: (url) => authorities.clientWith('ours', 'appliance', [url]),
  };
}

function openssl(...args: string[]): void {
  const { status, stderr } = spawnSync('openssl', args);
  if (status !== 0) throw new Error(stderr.toString());
}
