// Requests as clients of Vault send them: the token in its own header. The root token unless another, or null, is given.
import type { Answer, TestAppliance } from '../../harness/appliance.ts';

type Ask = (method: string, path: string, body?: unknown, token?: string | null, headers?: Record<string, string>) => Promise<Answer>;

/** `applianceOf`: known when a test runs. Paths are below `/v1/`. */
export function asVaultClient(applianceOf: () => TestAppliance): Ask {
  return (method, path, body, token = applianceOf().rootToken, headers = {}) =>
    applianceOf().request(method, `/v1/${path}`, body, {
      token: null,
      headers: { ...(token === null ? {} : { 'x-vault-token': token }), ...headers },
    });
}
