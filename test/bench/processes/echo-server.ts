// The yardstick: a bare node:https server that reads a body and answers with it. TLS 1.3, keep-alive, nothing else.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const [keyFile, certFile] = process.argv.slice(2) as [string, string];

const server = createServer({ key: readFileSync(keyFile), cert: readFileSync(certFile), minVersion: 'TLSv1.3' }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
