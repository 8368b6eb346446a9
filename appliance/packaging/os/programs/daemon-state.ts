// Reads the health of the daemon on this machine over TLS, without a token.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

/** `silent`: it does not answer (yet). `reasons`: one sentence for each part with a problem. */
export type DaemonState = {
  readonly status: 'ok' | 'degraded' | 'down' | 'sealed' | 'silent';
  readonly reasons: readonly string[];
};

/** Generous, because the machine may be busy. */
const timeoutMs = 20_000;
const mostBytes = 64 * 1024;
const silent: DaemonState = { status: 'silent', reasons: [] };

/** Asks the daemon at `port` on this machine, with the CA certificate below `root`. Never rejects. */
export async function readDaemonState(root: string, port = 4646): Promise<DaemonState> {
  try {
    return stateOf(JSON.parse(await get(port, readFileSync(caFile(root), 'utf8'))) as Report);
  } catch {
    return silent;
  }
}

/** The SHA-256 fingerprint of the CA that clients of this appliance trust; undefined before there is one. */
export function readCaFingerprint(root: string): string | undefined {
  try {
    return new X509Certificate(readFileSync(caFile(root))).fingerprint256;
  } catch {
    return undefined;
  }
}

function caFile(root: string): string {
  return join(root, 'var/lib/keystored/tls/ca.pem');
}

function get(port: number, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // The settings choose the names in the certificate, so they prove nothing; the signature of the appliance's own CA does.
    const options = { host: '127.0.0.1', port, path: '/v1/state/system/health', ca, checkServerIdentity: () => undefined };
    const asked = request({ ...options, agent: false, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > mostBytes) response.destroy(new Error('too long'));
      });
      response.on('error', reject);
      response.on('end', () => resolve(text));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** As core/platform/system/health-endpoint.ts and appliance/monitoring/health.ts write it. */
type Part = { readonly name?: string; readonly reason?: string };
type Report = { readonly status: DaemonState['status']; readonly hsm?: { readonly tokens: readonly Part[] } } & Readonly<
  Record<string, unknown>
>;

function stateOf({ status, hsm, ...parts }: Report): DaemonState {
  const named = Object.entries(parts).map(([name, part]) => ({ name, ...(typeof part === 'object' ? (part as Part) : {}) }));
  const tokens = (hsm?.tokens ?? []).map(({ name, reason }) => ({ name: `token ${name}`, reason }));
  return {
    status,
    reasons: [...tokens, ...named].flatMap(({ name, reason }) => (reason === undefined ? [] : [`${name}: ${reason}`])),
  };
}
