// The certificates of a receiver are judged before OpenSSL decodes them, whatever protocol it speaks.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { HttpConnection } from '../../../appliance/shipping/receivers/http.ts';
import type { Connection, ReceiverParts } from '../../../appliance/shipping/receivers/receiver.ts';
import { SyslogConnection } from '../../../appliance/shipping/receivers/syslog.ts';
import type { ShippedRecord } from '../../../appliance/shipping/formats/records.ts';
import { severities } from '../../../appliance/shipping/formats/severity.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { explicitCurveCertificate } from '../../harness/tls.ts';
import { httpsTo, syslogTo } from './destinations.ts';
import { makePki } from './pki.ts';

const path = temporaryDirectory();
const record: ShippedRecord = {
  ...{ source: 'audit', stream: 'worker-1', kind: 'request', occurredAt: '2026-01-01T00:00:00.000Z', severity: severities.info },
  ...{ id: 'worker-1:1', sequence: 1, text: '{"sequence":1}', record: { sequence: 1 } },
};

test.each<[protocol: string, version: 'TLSv1.2' | 'TLSv1.3', open: (port: number, pki: ReturnType<typeof makePki>) => Connection]>(
  (['TLSv1.2', 'TLSv1.3'] as const).flatMap((version) => {
    const waits: Omit<ReceiverParts, 'destination'> = { host: 'ks.example', patienceMs: 10_000, quietMs: 0, acknowledgeMs: 10_000 };
    return [
      ['syslog', version, (port, pki) => new SyslogConnection({ destination: syslogTo(port, pki), ...waits })],
      ['elastic', version, (port, pki) => new HttpConnection({ destination: httpsTo({ port }, 'elastic', pki), ...waits })],
    ];
  }),
)('%s over %s: a receiver with a curve that is written out is refused, with what helps', async (_, maxVersion, open) => {
  const pki = makePki(path('.'));
  const cert = `${readFileSync(pki.server, 'utf8')}${explicitCurveCertificate(path('.'))}`;
  const server = createServer({ maxVersion, cert, key: readFileSync(pki.serverKey) }).on('tlsClientError', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const connection = open((server.address() as AddressInfo).port, pki);
  onTestFinished(() => {
    connection.close();
    server.close();
  });
  await expect(connection.send([record])).rejects.toThrow(
    /^the certificates of the receiver were refused before they were read: give it at most seven above its own, .* on named curves/,
  );
});
