// custody verify: checks a statement about the custody of a key offline, and shows its content.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { Option } from 'commander';
import { z } from 'zod';
import { splitPublicKeys } from '../../../core/audit/keys.ts';
import { thumbprintOf } from '../../../core/base/public-keys/jwk.ts';
import { readPem } from '../../../core/base/texts/pem.ts';
import { partsOfXWingKey, rawOfXWingSpki } from '../../../core/der/x-wing.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { StatementRefused, verifyStatement } from '../../attestation/statement-jws.ts';
import { commandFor } from '../terminal/command-output.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { type Io, readText } from '../terminal/io.ts';
import { formats, printValue, type Format } from '../terminal/output.ts';

type Options = { readonly keys: string; readonly of?: string; readonly output?: Format };

/** `custody verify FILE --keys FILE [--of FILE]`. Exit code 7 when the statement is not to be believed. */
export async function runCustody(words: readonly string[], io: Io): Promise<void> {
  const custody = commandFor(io, 'keystorectl custody').description('Check statements about the custody of keys.');
  custody
    .command('verify')
    .description('check the signature of a custody statement, and show what it says')
    .argument('<file>', 'the statement, or the answer that has it; - for standard input')
    .addOption(
      new Option(
        '--keys <FILE>',
        'public keys that may have signed: an answer of GET /v1/state/system/attestation-keys that you kept, a JWK, or PEM',
      ).makeOptionMandatory(),
    )
    .addOption(new Option('--of <FILE>', 'the public key that the statement has to be about: PEM or JWK'))
    .addOption(new Option('-o, --output <FORMAT>', 'default: yaml on a terminal, else json').choices(formats))
    .exitOverride()
    .action((file: string, options: Options) => verifyFile(file, options, io));
  await custody.parseAsync([...words], { from: 'user' });
}

async function verifyFile(file: string, { keys, of: subject, output }: Options, io: Io): Promise<void> {
  const known = (await readKeys(keys, io)).flat();
  const text = await readStatement(file, io);
  try {
    const { kid, payload } = verifyStatement(text, known);
    if (subject !== undefined) await requireAbout(payload, subject, io);
    await printValue({ 'signed-by': kid, ...payload }, output, io);
  } catch (error) {
    if (!(error instanceof StatementRefused)) throw error;
    throw new CommandFailed(exitCodes.no, `this statement is not to be believed: ${error.message}`);
  }
}

const identity = z.object({ thumbprint: z.string() });
const aboutKey = z.object({ key: identity, 'second-key': identity.optional() });

async function requireAbout(payload: JsonObject, file: string, io: Io): Promise<void> {
  const [key, ...more] = await readKeys(file, io);
  if (key === undefined || more.length > 0) throw usageError(`${file} must have one public key`);
  const { key: first, 'second-key': second } = aboutKey.safeParse(payload).data ?? {};
  const [about, given] = [[first, second].flatMap((one) => one?.thumbprint ?? []), key.map(thumbprintOf)];
  if (about.join(' ') !== given.join(' ')) throw new StatementRefused(`its signature is good, but it is not about the key in ${file}`);
}

const answer = z.object({ statement: z.string() });

/** The text of a statement: as it is, or in the JSON that the API answers. */
async function readStatement(file: string, io: Io): Promise<string> {
  const text = await readText(file, io);
  return isJson(text) ? parse(answer, text, file, 'an answer with a statement').statement : text;
}

const jwk = z.looseObject({ kty: z.string() });
const jwkOrSet = z.union([z.object({ keys: z.array(jwk) }).transform(({ keys }) => keys), jwk.transform((one) => [one])]);

/** Reads every public key of a file: a JWK Set, a JWK, or PEM, each as one key, or as the two that one of X-Wing is. Throws a usage error if it has none. */
async function readKeys(file: string, io: Io): Promise<readonly (readonly KeyObject[])[]> {
  const text = await readText(file, io);
  const keys = isJson(text)
    ? parse(jwkOrSet, text, file, 'a JWK or a JWK Set').map((one) => () => [createPublicKey({ key: one, format: 'jwk' })])
    : splitPublicKeys(text).map((pem) => () => keysInPem(pem));
  if (keys.length === 0) throw usageError(`${file} has no public key`);
  try {
    return keys.map((make) => make().map(named));
  } catch (error) {
    throw usageError(`${file} has a public key that cannot be read (${(error as Error).message})`);
  }
}

function keysInPem(pem: string): readonly KeyObject[] {
  const raw = rawOfXWingSpki(readPem(pem)[0]?.der ?? new Uint8Array());
  return raw === undefined ? [createPublicKey(pem)] : partsOfXWingKey(raw);
}

/** Throws for a key that no statement can name, because its type has no thumbprint. */
function named(key: KeyObject): KeyObject {
  thumbprintOf(key);
  return key;
}

function isJson(text: string): boolean {
  return text.trimStart().startsWith('{');
}

function parse<T>(schema: z.ZodType<T>, text: string, file: string, what: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw usageError(`${file} is not ${what}`);
  }
}
