// Files of an appliance for its own member of etcd, below the data directory. Etcd reads keys and certificates from files.
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Configuration } from '../../../core/config/config.ts';
import { writeDurably } from '../../../core/base/durable-files.ts';
import { type MemberRole, memberRoles } from '../../../core/plugin/services/member-certificates.ts';
import { paths } from '../../data-directory/paths.ts';
import { parseFile } from '../../start-refused.ts';

const membership = z.object({
  /** `founding`: the first of its cluster. `joining`: it has certificates and is not filled yet. `member`: its etcd has started. */
  step: z.enum(['founding', 'joining', 'member']),
  /** drawn for each cluster: an etcd of another one is never mixed up with it */
  cluster: z.string(),
  clientUrl: z.string(),
  peerUrl: z.string(),
  /** it stood alone until it joined: its former state is dropped first (joining/former-state.ts) */
  replaces: z.literal(true).exactOptional(),
});
export type Membership = z.output<typeof membership>;

/** Paths. The files of a role are read by etcd at every handshake, its authorities at the start only. */
export function memberFiles(data: string) {
  const directory = paths.member(data);
  return {
    directory,
    membership: join(directory, 'membership.json'),
    endpoints: join(directory, 'endpoints.json'),
    transport: join(directory, 'transport.json'),
    processId: join(directory, 'etcd.pid'),
    etcd: join(directory, 'etcd'),
    ofRole: (role: MemberRole) => ({
      key: join(directory, `${role}-key.pem`),
      certificate: join(directory, `${role}.pem`),
      authority: join(directory, `${role}-ca.pem`),
      revocations: join(directory, `${role}.crl`),
    }),
  };
}

/** Reads the membership of this appliance; undefined before it has bootstrapped or joined a cluster. Throws StartRefused for a damaged file. */
export function readMembership(data: string): Membership | undefined {
  const file = memberFiles(data).membership;
  if (!existsSync(file)) return undefined;
  const remedy = 'start this appliance with an empty data directory and a new invitation';
  return parseFile(file, (text) => membership.parse(JSON.parse(text)), remedy);
}

/** Tells whether the appliance is a member of a cluster: with a member of etcd of its own, once it has bootstrapped or joined one. */
export function isMember({ cluster, data }: Pick<Configuration, 'cluster' | 'data'>): boolean {
  return cluster !== undefined && (cluster.member === undefined || existsSync(memberFiles(data).membership));
}

export function writeMembership(data: string, state: Membership): void {
  writeDurably(memberFiles(data).membership, `${JSON.stringify(state)}\n`);
}

/** Everything that a role needs. */
export type RoleFiles = {
  readonly key: string;
  readonly certificate: string;
  readonly authority: string;
  readonly revocations: Uint8Array;
};

/** Writes keys, certificates, authorities and revocation lists, each file whole, mode 0600. */
export function writeCredentials(data: string, credentials: Readonly<Record<MemberRole, RoleFiles>>): void {
  const { directory, ofRole } = memberFiles(data);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const role of memberRoles) {
    for (const [name, path] of Object.entries(ofRole(role))) writeDurably(path, credentials[role][name as keyof RoleFiles]);
  }
}

/** When the first of the certificates ends that this appliance was issued, in milliseconds since 1970. */
export function endOfCertificates(data: string): number {
  const { ofRole } = memberFiles(data);
  return Math.min(...memberRoles.map((role) => new X509Certificate(readFileSync(ofRole(role).certificate)).validToDate.getTime()));
}

/** Client URLs of the other members, as the follower knew them last. */
export function readEndpoints(data: string): readonly string[] {
  try {
    return z.array(z.string()).parse(JSON.parse(readFileSync(memberFiles(data).endpoints, 'utf8')));
  } catch {
    return [];
  }
}

export function writeEndpoints(data: string, urls: readonly string[]): void {
  writeDurably(memberFiles(data).endpoints, `${JSON.stringify(urls)}\n`);
}
