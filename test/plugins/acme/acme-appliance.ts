// An appliance with ACME, a name server, and a web server of this machine that proves names.
import { createServer } from 'node:http';
import { afterAll } from 'vitest';
import acme from '../../../plugins/acme/index.ts';
import { AcmeClient, type AccountKeys } from '../../harness/acme/client.ts';
import { type DnsServer, startDnsServer } from '../../harness/acme/dns-server.ts';
import { freePort } from '../../harness/daemon.ts';
import { type ScepAppliance, startScepAppliance } from '../scep/scep-appliance.ts';

export type AcmeAppliance = ScepAppliance & {
  readonly dns: DnsServer;
  /** port of http-01, and of tls-alpn-01 */
  readonly httpPort: number;
  readonly tlsPort: number;
  /** bodies of the web server by path; a text that begins with `>` is a redirect, an empty one is never answered */
  readonly pages: Map<string, string>;
  /** requests to the web server: host and path */
  readonly visits: string[];
  /** ends the connections to the web server */
  hangUp(): void;
  directoryOf(ca: string): string;
  client(ca: string, keys?: AccountKeys): AcmeClient;
};

/** Settings most tests start from: anybody makes an account, and names at and below example.test. */
export const openAcme = {
  acme: { enabled: true, 'external-account-required': false },
  est: { 'allowed-domains': ['example.test'], 'allow-subdomains': true, 'allow-bare-domains': true, 'allow-ip-sans': true },
};

/** `more`: of the configuration. `servesPages`: false where a client listens on the port of http-01 itself. */
export async function startAcmeAppliance(more: object = {}, servesPages = true): Promise<AcmeAppliance> {
  const dns = await startDnsServer();
  dns.addresses.set('*', ['127.0.0.1']);
  const [httpPort, tlsPort] = [await freePort(), await freePort()];
  const pages = new Map<string, string>();
  const visits: string[] = [];
  const web = createServer((request, response) => {
    const { url = '', headers } = request;
    visits.push(`${headers.host ?? ''}${url}`);
    const page = pages.get(url);
    if (page === '') return;
    if (page?.startsWith('>') === true) response.writeHead(302, { location: page.slice(1) }).end('moved');
    else response.writeHead(page === undefined ? 404 : 200).end(page ?? 'secret of the intranet');
  });
  if (servesPages) await new Promise<void>((resolve) => web.listen(httpPort, '127.0.0.1', resolve));
  afterAll(async () => {
    web.close();
    await dns.close();
  });
  const appliance = await startScepAppliance({
    plugins: [acme],
    configuration: {
      acme: {
        validationHosts: { allow: ['127.0.0.0/8'], deny: ['127.0.0.66'] },
        resolvers: [`127.0.0.1:${dns.port}`],
        httpPort,
        tlsPort,
        ...more,
      },
    },
  });
  const directoryOf = (ca: string): string => `${appliance.secure}/acme/${appliance.tenantId}/${ca}/directory`;
  return {
    ...appliance,
    ...{ dns, httpPort, tlsPort, pages, visits, directoryOf, hangUp: () => web.closeAllConnections() },
    client: (ca, keys) => new AcmeClient(directoryOf(ca), appliance.caPem, keys),
  };
}
