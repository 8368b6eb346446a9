// A server that says it is an old etcd, and does nothing else.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

type Files = { readonly certificate: string; readonly key: string; readonly ca: string };

export async function startOldEtcd(version: string, { certificate, key, ca }: Files): Promise<{ readonly url: string; stop(): void }> {
  const { 'etcdserverpb.Maintenance': maintenance } = loadSync('rpc.proto', {
    includeDirs: [join(import.meta.dirname, '../../core/etcd/proto')],
    keepCase: true,
  });
  const server = new Server();
  server.addService(maintenance as ServiceDefinition, {
    Status: (_call: unknown, answer: (error: null, status: object) => void) => answer(null, { header: {}, version }),
  });
  const pair = { private_key: readFileSync(key), cert_chain: readFileSync(certificate) };
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync('127.0.0.1:0', ServerCredentials.createSsl(readFileSync(ca), [pair], true), (error, port) => {
    if (error === null) resolve(port);
    else reject(error);
  });
  return { url: `https://127.0.0.1:${await promise}`, stop: () => server.forceShutdown() };
}
