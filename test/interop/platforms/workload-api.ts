// SPIFFE's Workload API at a socket, as an agent of SPIRE has it, for one workload.
import { join } from 'node:path';
import { type sendUnaryData, Server, status, ServerCredentials, type ServerUnaryCall, type ServerWritableStream } from '@grpc/grpc-js';
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader';

type Workload = {
  readonly id: string;
  /** makes a token for these audiences */
  readonly mint: (audience: readonly string[]) => string;
  /** key set of the trust domain */
  readonly bundle: () => string;
};

/** Ends with what the caller calls. */
export async function startWorkloadApi(socket: string, { id, mint, bundle }: Workload): Promise<() => void> {
  const { SpiffeWorkloadAPI: service } = loadSync(join(import.meta.dirname, 'workload.proto'), { keepCase: true });
  const server = new Server();
  server.addService(service as ServiceDefinition, {
    FetchJWTSVID({ request, metadata }: ServerUnaryCall<{ audience: string[] }, object>, answer: sendUnaryData<object>) {
      if (metadata.get('workload.spiffe.io')[0] !== 'true')
        answer({ code: status.INVALID_ARGUMENT, details: 'security header missing from request' });
      else answer(null, { svids: [{ spiffe_id: id, svid: mint(request.audience) }] });
    },
    FetchJWTBundles(call: ServerWritableStream<object, object>) {
      call.write({ bundles: { [id.split('/').slice(0, 3).join('/')]: Buffer.from(bundle()) } });
    },
  });
  await new Promise<void>((done, failed) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => (error === null ? done() : failed(error))),
  );
  return () => server.forceShutdown();
}
