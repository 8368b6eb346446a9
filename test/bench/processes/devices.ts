// Devices with a client certificate, which wrk cannot show: connections over TLS that send one request again and again. Its only argument is a
// file with a DeviceLoad; it prints its figures as the script of measure/load.ts makes wrk print them.
import { readFileSync } from 'node:fs';
import { connect, createSecureContext } from 'node:tls';

export type DeviceLoad = {
  readonly port: number;
  /** the whole request, header and body, ASCII */
  readonly request: string;
  /** PEM */
  readonly identity: { readonly cert: string; readonly key: string };
  readonly connections: number;
  readonly seconds: number;
  /** a new connection for each request */
  readonly fresh: boolean;
};

const load = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as DeviceLoad;
const secureContext = createSecureContext(load.identity);
const latenciesMs: number[] = [];
let refused = 0;
let isOver = false;

const beganMs = performance.now();
for (let connection = 0; connection < load.connections; connection += 1) openConnection();
setTimeout(report, load.seconds * 1_000);

function openConnection(): void {
  if (isOver) return;
  let sentMs = performance.now();
  let received = '';
  const send = (): void => {
    if (!load.fresh) sentMs = performance.now();
    socket.write(load.request, 'latin1');
  };
  // The host may have another certificate than one for this address: what is measured is the server's work.
  const socket = connect({ host: '127.0.0.1', port: load.port, secureContext, rejectUnauthorized: false }, send);
  socket.setNoDelay(true);
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    if (!isWhole(received)) return;
    if (!received.startsWith('HTTP/1.1 200 ')) refused += 1;
    latenciesMs.push(performance.now() - sentMs);
    received = '';
    if (load.fresh || isOver) socket.destroy();
    else send();
  });
  socket.on('error', () => (refused += isOver ? 0 : 1));
  socket.on('close', openConnection);
}

/** Whether an answer with Content-Length is here to its end. */
function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  return head !== -1 && text.length >= head + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
}

/** Ends at once: as with wrk, requests under way are served and not counted. */
function report(): void {
  isOver = true;
  const sorted = latenciesMs.toSorted((left, right) => left - right);
  const microsAt = (share: number): number => (sorted[Math.floor(sorted.length * share)] ?? 0) * 1_000;
  const tookMicros = Math.round((performance.now() - beganMs) * 1_000);
  process.stdout.write(`RESULT ${sorted.length} ${tookMicros} ${microsAt(0.5)} ${microsAt(0.99)} ${refused}\n`, () => process.exit(0));
}
