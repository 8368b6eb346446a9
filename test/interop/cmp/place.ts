// A folder in which openssl cmp asks a CA of an appliance, and the words of its commands.
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type CmpAppliance, cmpSecret } from '../../plugins/cmp/cmp-appliance.ts';

export type Ran = { readonly code: number; readonly said: string };

/** Runs a program with a directory in front of those in which programs are looked for; `programs` ends with a colon, or is empty. */
export function run(programs: string, cwd: string, program: string, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { ...process.env, PATH: `${programs}${process.env['PATH']}` };
    execFile(program, args, { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
  });
}

export type Place = {
  readonly ca: string;
  readonly directory: string;
  readonly cmp: (...args: readonly string[]) => Promise<Ran>;
  readonly certificate: (file: string) => X509Certificate;
};

/** A CA with these fields, and a folder for a client with its certificate, `ca.pem`, and two keys, `k.pem` and `k2.pem`. */
export async function makePlace(appliance: CmpAppliance, programs: string, path: (name: string) => string, fields: object): Promise<Place> {
  const ca = await appliance.makeCa(fields);
  const directory = path(ca);
  mkdirSync(directory);
  writeFileSync(`${directory}/ca.pem`, (await appliance.state(ca))['ca-cert']);
  for (const name of ['k', 'k2']) await makeKey(programs, directory, `${name}.pem`);
  const { host, pathname } = new URL(appliance.cmpUrl(ca));
  const usual = ['-config', '', '-server', `${host}${pathname}`, '-recipient', `/CN=${ca}`];
  return {
    ...{ ca, directory },
    cmp: (...args) => run(programs, directory, 'openssl', 'cmp', ...usual, ...args),
    certificate(file) {
      if (!existsSync(`${directory}/${file}`)) throw new Error('no certificate came');
      return new X509Certificate(readFileSync(`${directory}/${file}`));
    },
  };
}

export async function makeKey(programs: string, directory: string, file: string): Promise<void> {
  await must(run(programs, directory, 'openssl', 'genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', file));
}

export const mac = ['-ref', '1234', '-secret', `pass:${cmpSecret}`];
export const first = ['-subject', '/CN=dev.example.test', '-newkey', 'k.pem', '-certout', 'c.pem'];
export const held = ['-trusted', 'ca.pem', '-cert', 'c.pem', '-key', 'k.pem'];

export async function must(ran: Promise<Ran>): Promise<string> {
  const { code, said } = await ran;
  expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' });
  return said;
}
