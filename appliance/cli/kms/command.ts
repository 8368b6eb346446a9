// kms: encryption at rest of a Kubernetes cluster by a key of the appliance, as a plugin of KMS v2 on a Unix socket.
import { type ConnectionOptions, connectionOptions } from '../connection-options.ts';
import { LastingClient } from '../lasting/client.ts';
import { listenOn, readMode } from '../lasting/listen.ts';
import { Notices } from '../lasting/notices.ts';
import { commandFor } from '../terminal/command-output.ts';
import type { Io } from '../terminal/io.ts';
import { milliseconds } from '../terminal/times.ts';
import { programVersion } from '../version.ts';
import { serverOf } from './grpc.ts';
import { kmsMethods } from './service.ts';

type Options = ConnectionOptions & {
  readonly socket: string;
  readonly key: string;
  readonly mode: string;
  readonly group?: string;
  readonly timeout: string;
};

const name = 'keystorectl kms';
/** Requests at the same time. */
const mostAtOnce = 16;

/** `kms --socket PATH --key NAME`. Serves until SIGTERM. */
export async function runKms(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandFor(io, name)
    .description(
      'Encrypt the secrets of a Kubernetes cluster at rest: a plugin of KMS v2, which kube-apiserver reaches by the endpoint unix://PATH. ' +
        'The token needs execute of encrypt and decrypt of the key.',
    )
    .requiredOption('--socket <PATH>', 'Unix socket to serve; "systemd": the one of a socket unit')
    .requiredOption('--key <NAME>', 'transit key that encrypts')
    .option('--mode <MODE>', 'mode of the socket', '0600')
    .option('--group <GROUP>', 'group of the socket')
    .option('--timeout <TIME>', 'longest time of a request; below that of the API server, which is 3s unless it is configured', '2500ms')
    .helpOption('-h, --help', 'show this')
    .action(async (options: Options) => serve({ ...before, ...options }, io));
  for (const option of connectionOptions()) command.addOption(option);
  await command.parseAsync([...words], { from: 'user' });
}

async function serve(options: Options, io: Io): Promise<void> {
  const { socket, key, mode, group, timeout } = options;
  const timeoutMs = milliseconds(timeout, 'timeout');
  const octal = readMode(mode);
  const notices = new Notices(io, name);
  const userAgent = `keystorectl-kms/${programVersion}`;
  const client = new LastingClient({ connection: options, io, userAgent, timeoutMs, atOnce: mostAtOnce });
  try {
    await listenOn({ socket, mode: octal, group }, serverOf(kmsMethods(key, client, notices)), io, name);
  } finally {
    client.close();
  }
}
