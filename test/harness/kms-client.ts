// A client of Kubernetes' KMS v2 over a Unix socket: gRPC on HTTP/2, and messages in protobuf.
import { connect, type ClientHttp2Session } from 'node:http2';
import { createConnection } from 'node:net';
import { readFields, writeFields } from '../../appliance/cli/kms/protobuf.ts';

type Said = { readonly status: number; readonly message: string; readonly fields: ReadonlyMap<number, Buffer> };

export const textOf = ({ fields }: Said, field: number): string => fields.get(field)?.toString() ?? '';

export class KmsClient {
  readonly #session: ClientHttp2Session;

  constructor(socket: string) {
    this.#session = connect('http://localhost', { createConnection: () => createConnection(socket) });
  }

  /** Sends octets as the body of a call. */
  send(method: string, body: Buffer, headers = {}): Promise<Said> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({
        ...{ ':method': 'POST', ':path': `/v2.KeyManagementService/${method}`, 'content-type': 'application/grpc', te: 'trailers' },
        ...headers,
      });
      const chunks: Buffer[] = [];
      let [status, message] = [-1, ''];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('trailers', (trailers) => {
        [status, message] = [Number(trailers['grpc-status']), decodeURIComponent(String(trailers['grpc-message'] ?? ''))];
      });
      stream.on('error', reject);
      stream.on('close', () => resolve({ status, message, fields: readFields(Buffer.concat(chunks).subarray(5)) }));
      stream.end(body);
    });
  }

  call(method: string, fields: Readonly<Record<number, string | Uint8Array>> = {}): Promise<Said> {
    return this.send(method, framed(writeFields(fields)));
  }

  /** Version, health and key_id. */
  async status(): Promise<readonly string[]> {
    const said = await this.call('Status');
    return [1, 2, 3].map((field) => textOf(said, field));
  }

  end(): void {
    this.#session.destroy();
  }
}

export function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
