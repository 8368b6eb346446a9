// step-ca as a neighbour: its server with software keys, an RSA-2048 intermediate that also opens SCEP, and provisioners for SCEP and ACME. Its store is
// that of its own defaults, which does not sync each write: an answer of it promises less than one of the appliance.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWithTests } from '../../harness/children.ts';
import { freePort } from '../../harness/daemon.ts';

export type StepCa = {
  /** URL of SCEP, over plain HTTP as devices use it */
  readonly scep: string;
  /** URL of the directory of ACME */
  readonly acme: string;
  /** PEM of its root */
  readonly caPem: string;
  readonly stop: () => Promise<void>;
};

/** Names of its provisioners. */
const [byScep, byAcme] = ['scep', 'acme'] as const;

/** Version of a program, as it names itself, or as Go does where it was built by `go install`. */
export function stepCaVersion(program: string): string {
  const { stdout, error } = spawnSync(program, ['version'], { encoding: 'utf8' });
  const named = /Smallstep CA\/(\S+)/.exec(stdout ?? '')?.[1];
  const built = spawnSync('go', ['version', '-m', program], { encoding: 'utf8' }).stdout ?? '';
  const version = named?.includes('dev') === true ? (/^\tmod\t\S+\tv?(\S+)/m.exec(built)?.[1] ?? named) : named;
  if (version === undefined) throw new Error(`BENCH_STEP_CA=${program} is not step-ca: ${error?.message ?? stdout}`);
  return version;
}

/** Starts a new server in a directory. `validation`: where it finds the names of orders, and the port of http-01. */
export async function startStepCa(
  program: string,
  directory: string,
  { challenge, resolver, httpPort }: { readonly challenge: string; readonly resolver: string; readonly httpPort: number },
): Promise<StepCa> {
  mkdirSync(directory, { recursive: true });
  const at = (name: string): string => join(directory, name);
  makeAuthorities(at);
  const [port, plainPort] = [await freePort(), await freePort()];
  const scep = { type: 'SCEP', name: byScep, challenge, minimumPublicKeyLength: 2_048, encryptionAlgorithmIdentifier: 2 };
  const configuration = {
    ...{ root: at('root.pem'), crt: at('intermediate.pem'), key: at('intermediate.key'), dnsNames: ['127.0.0.1'] },
    ...{ address: `127.0.0.1:${port}`, insecureAddress: `127.0.0.1:${plainPort}` },
    db: { type: 'badgerv2', dataSource: at('db') },
    authority: { provisioners: [scep, { type: 'ACME', name: byAcme }] },
  };
  writeFileSync(at('ca.json'), JSON.stringify(configuration));
  const words = [at('ca.json'), '--insecure', '--resolver', resolver, '--acme-http-port', String(httpPort)];
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  endWithTests(child);
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  await new Promise<void>((done, fail) => {
    const said: string[] = [];
    const collect = (chunk: Buffer): void => {
      said.push(chunk.toString());
      if (said.join('').includes('Serving HTTPS on')) done();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    void ended.then(() => fail(new Error(`step-ca did not start:\n${said.join('')}`)));
  });
  return {
    scep: `http://127.0.0.1:${plainPort}/scep/${byScep}`,
    acme: `https://127.0.0.1:${port}/acme/${byAcme}/directory`,
    caPem: readFileSync(at('root.pem'), 'utf8'),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** A root and the intermediate that signs, opens and answers, both RSA-2048. */
function makeAuthorities(at: (name: string) => string): void {
  const make = (name: string, subject: string, ...more: readonly string[]) =>
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '3650', '-subj', `/CN=${subject}`, '-keyout', at(`${name}.key`)],
        ...['-out', at(`${name}.pem`), '-addext', 'keyUsage=critical,keyCertSign,cRLSign,digitalSignature,keyEncipherment', ...more],
      ],
      { stdio: 'ignore' },
    );
  make('root', 'Bench Root');
  make('intermediate', 'Bench Intermediate', '-CA', at('root.pem'), '-CAkey', at('root.key'));
}
