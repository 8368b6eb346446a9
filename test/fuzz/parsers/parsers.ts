// Every parser that the drill knows, in the order in which it runs them.
import { mkdirSync } from 'node:fs';
import { acmeParsers } from './acme.ts';
import { cmpParsers } from './cmp.ts';
import { certificateParsers, requestParsers } from './der.ts';
import { auditParsers, backupParsers } from './files.ts';
import { keyParsers, openpgpParsers } from './keys.ts';
import { kmipParsers } from './kmip.ts';
import type { Parser } from './parser.ts';
import { pkcs11Parsers } from './pkcs11.ts';
import { scepParsers } from './scep.ts';
import { jsonParsers, yamlParsers } from './texts.ts';

/** What is written goes below the directory, which is made. */
export async function makeParsers(directory: string): Promise<readonly Parser[]> {
  mkdirSync(directory, { recursive: true });
  return [
    ...(await certificateParsers()),
    ...(await requestParsers()),
    ...(await scepParsers()),
    ...(await acmeParsers()),
    ...cmpParsers(),
    ...pkcs11Parsers(),
    ...kmipParsers(),
    ...keyParsers(),
    ...(await openpgpParsers()),
    ...jsonParsers(),
    ...yamlParsers(directory),
    ...(await backupParsers()),
    ...(await auditParsers(directory)),
  ];
}
