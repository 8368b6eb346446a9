// The landing page of `npm run dev`, a listener of listhen: its address leads to the console when the appliance is up, and waits while it
// restarts.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { listen } from 'listhen';
import type { ApplianceProcess } from './appliance-process.ts';

export type Landing = {
  readonly url: string;
  /** Shows on the terminal where the appliance is, and how its certificate is known; a QR code where another device can get there. */
  show(url: string): Promise<void>;
  /** Opens the browser, which is led to the console once the appliance is up. */
  open(): Promise<void>;
  close(): Promise<void>;
};

/** Listens on loopback alone, with HTTP: nothing but the way to the appliance and its public certificate is to be had here. */
export async function openLanding(appliance: Pick<ApplianceProcess, 'settled'>, data: string): Promise<Landing> {
  const caFile = `${data}/tls/ca.pem`;
  const handle = (request: IncomingMessage, response: ServerResponse): void => void answer(appliance, caFile, request, response);
  const listener = await listen(handle, {
    ...{ port: 4640, hostname: '127.0.0.1', public: false, isProd: false, isTest: false },
    ...{ showURL: false, autoClose: false },
  });
  return {
    url: listener.url,
    async show(url) {
      const { address, isReachable } = addressFor(url);
      const extraURLs = [
        { title: 'Console', url: `${address}/ui` },
        { title: 'API', url: `${address}/v1/docs` },
        { title: 'Certificate', url: `${listener.url}ca.pem` },
      ];
      await listener.showURL({ extraURLs, qr: isReachable });
      console.log(`  CA of the certificate: ${caFile}, SHA-256 ${new X509Certificate(readFileSync(caFile)).fingerprint256}\n`);
    },
    open: () => listener.open(),
    close: () => listener.close(),
  };
}

/** The address for people: an appliance that listens everywhere is reached by one of the addresses of this machine. */
export function addressFor(url: string, interfaces = networkInterfaces()): { readonly address: string; readonly isReachable: boolean } {
  const { hostname, port } = new URL(url);
  if (/^(?:127\.|localhost$|\[::1\]$)/.test(hostname)) return { address: url, isReachable: false };
  if (!['0.0.0.0', '[::]'].includes(hostname)) return { address: url, isReachable: true };
  const outer = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  if (outer === undefined) return { address: `https://127.0.0.1:${port}`, isReachable: false };
  return { address: `https://${isIPv6(outer.address) ? `[${outer.address}]` : outer.address}:${port}`, isReachable: true };
}

async function answer(
  appliance: Pick<ApplianceProcess, 'settled'>,
  caFile: string,
  { url }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('cache-control', 'no-store');
  if (url !== '/' && url !== '/ca.pem') return void response.writeHead(404).end();
  const started = await appliance.settled();
  if (started === 'ended') {
    response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8', refresh: '1' });
    return void response.end('The appliance does not run: the terminal says why. It is started again at the next change of a source.\n');
  }
  if (url === '/') return void response.writeHead(302, { location: `${addressFor(started.url).address}/ui` }).end();
  response.writeHead(200, { 'content-type': 'application/x-pem-file', 'content-disposition': 'attachment; filename="keystored-ca.pem"' });
  response.end(readFileSync(caFile));
}
