// A CA with a server, a client, and a CA of somebody else, made by openssl for one test file.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of PEM files. `server` is valid for localhost, 127.0.0.1 and siem.example; `outsider` is of another CA. */
export type Pki = Readonly<Record<'ca' | 'otherCa' | 'server' | 'serverKey' | 'client' | 'clientKey' | 'outsider' | 'outsiderKey', string>>;

export function makePki(directory: string): Pki {
  const at = (name: string): string => join(directory, name);
  const run = (...args: string[]): void => {
    const made = spawnSync('openssl', args);
    if (made.status !== 0) throw new Error(`openssl ${args[0]}: ${made.stderr.toString()}`);
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  for (const ca of ['ca', 'other-ca'])
    run('req', '-x509', ...newKey, '-days', '2', '-keyout', at(`${ca}.key`), '-out', at(`${ca}.pem`), '-subj', `/CN=${ca}`);
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1,DNS:siem.example');
  const issue = (name: string, ca: string): void => {
    run('req', ...newKey, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`), '-subj', `/CN=${name}`);
    const issuer = ['-CA', at(`${ca}.pem`), '-CAkey', at(`${ca}.key`), '-CAcreateserial'];
    run('x509', '-req', '-in', at(`${name}.csr`), ...issuer, '-days', '2', '-out', at(`${name}.pem`), '-extfile', at('names'));
  };
  issue('server', 'ca');
  issue('client', 'ca');
  issue('outsider', 'other-ca');
  return {
    ...{ ca: at('ca.pem'), otherCa: at('other-ca.pem'), server: at('server.pem'), serverKey: at('server.key') },
    ...{ client: at('client.pem'), clientKey: at('client.key'), outsider: at('outsider.pem'), outsiderKey: at('outsider.key') },
  };
}
