// http-01 (RFC 8555 section 8.3): the host serves the key authorization.
import { isIP } from 'node:net';
import { perform } from '../../../core/outbound/outbound.ts';
import { hostOf } from '../../../core/base/addresses.ts';
import { NotProved } from './refusal.ts';
import type { Proof } from './proof.ts';
import type { Ways } from './ways.ts';

const maxRedirects = 10;
const maxBytes = 65_536;

/** Rejects with NotProved, OutboundError, or the error of the system. */
export async function proveByHttp(ways: Ways, { identifier, token, keyAuthorization, signal }: Proof): Promise<void> {
  const host = identifier.type === 'ip' && identifier.value.includes(':') ? `[${identifier.value}]` : identifier.value;
  let url = new URL(`http://${host}:${ways.httpPort}/.well-known/acme-challenge/${token}`);
  for (let redirects = 0; ; redirects++) {
    const { lookup } = ways.destinations.wayTo(url);
    const answer = await perform(
      url,
      'GET',
      { headers: { 'user-agent': 'keystored (ACME validation)' } },
      { lookup, signal, maxBytes, isUnverified: true },
    );
    if (answer.status === 200) {
      if ((await answer.text()).trimEnd() === keyAuthorization) return;
      throw new NotProved(
        'unauthorized',
        'The host serves something else than the key authorization of this account at the path of the challenge.',
      );
    }
    const location = answer.status >= 300 && answer.status < 400 ? answer.headers.get('location') : null;
    if (location === null)
      throw new NotProved('unauthorized', `The host answers with the status ${answer.status} at the path of the challenge.`);
    if (redirects === maxRedirects) throw new NotProved('connection', `The host redirects more than ${maxRedirects} times.`);
    url = redirected(location, url, ways);
  }
}

/** Only to host names, on the ports of the web: anything else lets an unauthenticated caller choose what is asked. */
function redirected(location: string, from: URL, { httpPort, tlsPort }: Ways): URL {
  const url = URL.canParse(location, from) ? new URL(location, from) : undefined;
  const isWeb =
    url !== undefined &&
    ((url.protocol === 'http:' && [80, httpPort].includes(Number(url.port || 80))) ||
      (url.protocol === 'https:' && [443, tlsPort].includes(Number(url.port || 443))));
  if (!isWeb || url.username !== '' || url.password !== '')
    throw new NotProved('connection', 'The host redirects to something else than http on port 80 or https on port 443.');
  if (isIP(hostOf(url)) !== 0 && hostOf(url) !== hostOf(from))
    throw new NotProved('connection', 'The host redirects to an address: it may to a host name.');
  return url;
}
