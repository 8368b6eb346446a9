// The yardstick of enrolments: a bare node:https server that asks for a client certificate, reads a body, and makes one token signature.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { HsmConfig, KeyType, SignScheme } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';

const [keyFile, certFile, configText, type] = process.argv.slice(2) as [string, string, string, KeyType];

const hsm = await openHsm(JSON.parse(configText) as HsmConfig);
const binding = { tenant: 'bench', keyId: `bench-${type}`, version: 1, purpose: 'ca' };
const { stored } = await hsm.generate(type, binding, { custody: 'token', extractable: false });
const scheme: SignScheme =
  type === 'ml-dsa-65' ? { scheme: 'ml-dsa', message: Buffer.alloc(2_200, 7) } : { scheme: 'ecdsa', digest: createHash('sha256').digest() };
// As large as what an enrolment answers.
const body = Buffer.alloc(type === 'ml-dsa-65' ? 8_000 : 1_100, 'A');

const tls = { key: readFileSync(keyFile), cert: readFileSync(certFile), requestCert: true, rejectUnauthorized: false };
const server = createServer(tls, (request, response) => {
  request.resume().once('end', () => {
    void hsm
      .sign({ stored, binding }, scheme)
      .then(() => response.writeHead(200, { 'Content-Type': 'application/pkcs7-mime', 'Content-Length': body.length }).end(body));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
