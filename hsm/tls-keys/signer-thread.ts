// Thread that signs TLS handshakes with keys in a token. OpenSSL requests a signature in the middle of a handshake and waits, and with it the
// thread of the listeners; this one waits for the token instead, and answers in time whatever the token does.
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import type { Hsm, HsmConfig, KeyReference } from '../api.ts';
import { openHsm } from '../client/open.ts';
import { decodeWithPins } from '../protocol/pins.ts';
import { FrameReader, octet, protocolVersion } from '../p11-kit/frames.ts';
import { RemoteToken, type ShownObject } from '../p11-kit/remote-token.ts';
import { listenerToken, type SignDigest } from './listener-token.ts';
import { shownObjects, type TlsKey } from './shown-keys.ts';

/** Message from the thread of the listeners. `config`: encodeWithPins of the HsmConfig. */
export type SignerOrder =
  | { readonly order: 'open'; readonly config: Uint8Array; readonly socket: string; readonly patienceMs: number }
  | { readonly order: 'add'; readonly key: TlsKey }
  | { readonly order: 'close'; readonly patienceMs?: number };

/** Message to the thread of the listeners: the result of an order; and, when it changes, whether handshakes can be signed. */
export type SignerNews =
  | { readonly done: SignerOrder['order']; readonly error?: string }
  | { readonly fault: string | undefined }
  | { readonly event: string };

const port = parentPort;
if (port === null) throw new Error('this is a thread of the service');

const objects: ShownObject<KeyReference>[] = [];
let hsm: Hsm | undefined;
let patienceMs = 0;
/** number of late signatures; while it is above zero, no other signature is waited for */
let late = 0;
/** reason for which the token's process is down */
let down: string | undefined;
let reported: string | undefined;

const tell = (news: SignerNews): void => port.postMessage(news, []);

const orders = {
  async open({ config, socket, patienceMs: patience }: Extract<SignerOrder, { order: 'open' }>): Promise<void> {
    patienceMs = patience;
    hsm = await openHsm(decodeWithPins<HsmConfig>(Buffer.from(config).toString()), {
      onEvent: ({ kind, message }) => {
        tell({ event: message });
        if (kind === 'token-up') down = undefined;
        else if (kind === 'token-down' || kind === 'pin-refused') down = message;
        report();
      },
    });
    config.fill(0);
    rmSync(socket, { force: true });
    await new Promise<void>((resolve, reject) => {
      const server = createServer(serve).once('error', reject);
      server.listen(socket, () => {
        chmodSync(socket, 0o600);
        server.unref();
        resolve();
      });
    });
  },
  async add({ key }: Extract<SignerOrder, { order: 'add' }>): Promise<void> {
    objects.push(...shownObjects(key));
  },
  async close({ patienceMs: closingMs }: Extract<SignerOrder, { order: 'close' }>): Promise<void> {
    await hsm?.close(closingMs);
  },
};

port.on('message', (order: SignerOrder) => {
  const carriedOut = order.order === 'open' ? orders.open(order) : order.order === 'add' ? orders.add(order) : orders.close(order);
  carriedOut.then(
    () => tell({ done: order.order }),
    (error: Error) => tell({ done: order.order, error: error.message }),
  );
});

/** Signs, or rejects within the patience, whatever the token does. After a late signature, others are not waited for until it has arrived. */
const sign: SignDigest = async (reference, digest) => {
  if (hsm === undefined || late > 0) throw new Error('the token is late');
  const signing = hsm.sign(reference, { scheme: 'ecdsa', digest });
  const patience = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late++;
    report();
    patience.reject(new Error('the token is late'));
    void signing.then(settled, settled);
  }, patienceMs);
  try {
    return await Promise.race([signing, patience.promise]);
  } finally {
    clearTimeout(timer);
  }
};

function settled(): void {
  late--;
  report();
}

function report(): void {
  const now = down ?? (late > 0 ? `it did not sign within ${patienceMs} ms` : undefined);
  if (now === reported) return;
  reported = now;
  tell({ fault: now });
}

function serve(socket: Socket): void {
  const reader = new FrameReader();
  const token = new RemoteToken(listenerToken(objects, sign));
  let last = Promise.resolve();
  socket.unref();
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    try {
      const { begins, calls } = reader.push(chunk as Buffer);
      if (begins) socket.write(octet(protocolVersion));
      for (const call of calls) last = last.then(async () => void socket.write(await token.answer(call)));
    } catch {
      socket.destroy();
    }
  });
}
