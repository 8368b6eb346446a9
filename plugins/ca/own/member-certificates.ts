// The service `member-certificates`: certificates of two CAs of the appliance, for the members of etcd in a cluster.
import { X509Certificate } from 'node:crypto';
import { parseDuration } from '../../../core/base/time.ts';
import { type MemberCertificates, type MemberRole, memberRoles } from '../../../core/plugin/services/member-certificates.ts';
import type { FoundCa } from '../authority/lookup.ts';
import { caKeysInToken } from './keys-in-token.ts';
import { ensureOwnCa, type OwnCa } from './own-ca.ts';
import type { CaContext } from '../context.ts';
import { formatCertificatePem, readCertificate } from '../der/certificate.ts';
import { readName } from '../../../core/der/name.ts';
import { approveMember } from '../issuing/approval.ts';
import { verifyCsr } from '../issuing/csr.ts';
import { issueCertificate } from '../issuing/issue.ts';
import { requireNewestGeneration } from '../records/records.ts';
import { currentCrl } from '../status/crl.ts';
import { revokeCertificate } from '../status/revocation.ts';

export const memberCaNames = { peer: 'cluster-peer', client: 'cluster-client' } as const;

/** Etcd reads its authorities at its start only, so they are never rolled over. */
const authorities: Readonly<Record<MemberRole, OwnCa>> = {
  peer: { name: memberCaNames.peer, commonName: 'keystored cluster CA of etcd members', forMembers: true },
  client: { name: memberCaNames.client, commonName: 'keystored cluster CA of appliances', forMembers: true },
};

const keyFamilies = ['ec'] as const;
const via = 'cluster-member';
const ttlSeconds = parseDuration('90d', 'ttl').seconds;

export function memberCertificates(context: CaContext): MemberCertificates {
  const authorityOf = (tenantId: string, role: MemberRole): Promise<FoundCa> => ensureOwnCa(context, tenantId, authorities[role]);
  return {
    readRequest(request) {
      const { publicKey, challengePassword } = verifyCsr(request, keyFamilies).content;
      return { key: publicKey, challenge: challengePassword };
    },
    async issue(tenantId, role, { appliance, address, request }) {
      const csr = verifyCsr(request, keyFamilies);
      const ca = await authorityOf(tenantId, role);
      const { record } = await issueCertificate(context, ca, approveMember(csr, appliance, address), { ttlSeconds, via });
      const authority = requireNewestGeneration(ca.record).certificate;
      return { certificate: formatCertificatePem(record.certificate), authority: formatCertificatePem(authority) };
    },
    async revoke(tenantId, isMeant) {
      const addresses = new Set<string>();
      for (const role of memberRoles) {
        const ca = await authorityOf(tenantId, role);
        const held = Array.from(context.tables.certificates.entries([ca.tenantId, ca.record.id]));
        for (const [key, { certificate, revoked }] of held) {
          if (revoked !== undefined || !isMeant(commonNameOf(certificate))) continue;
          await revokeCertificate(context, ca, String(key.at(-1)), 'cessation-of-operation');
          addresses.add(addressOf(certificate));
        }
      }
      return [...addresses];
    },
    lacking(tenantId, appliances) {
      const now = context.clock.now();
      const lacking = new Set<string>();
      for (const role of memberRoles) {
        const id = context.tables.cas.get([tenantId, authorities[role].name])?.id;
        const records = id === undefined ? [] : Array.from(context.tables.certificates.entries([tenantId, id]), ([, record]) => record);
        const [good, ended] = [new Set<string>(), new Set<string>()];
        for (const { certificate, revoked, notAfter } of records) {
          if (revoked !== undefined) ended.add(commonNameOf(certificate));
          else if (Temporal.Instant.compare(notAfter, now) > 0) good.add(commonNameOf(certificate));
        }
        for (const one of appliances) if (ended.has(one) && !good.has(one)) lacking.add(one);
      }
      return [...lacking];
    },
    async revocations(tenantId, role) {
      const ca = await authorityOf(tenantId, role);
      return currentCrl(context, ca, requireNewestGeneration(ca.record), { needs: 'every' });
    },
    keysInToken: () => caKeysInToken(context),
  };
}

/** The only alternative name. */
function addressOf(certificate: Uint8Array): string {
  return new X509Certificate(certificate).subjectAltName?.replace('IP Address:', '') ?? '';
}

function commonNameOf(certificate: Uint8Array): string {
  return readName(readCertificate(certificate).subject)[0]?.value ?? '';
}
