// The capability tables in hsm/capabilities match what the tokens do. KEYSTORED_CAPABILITIES=write regenerates them.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { defined } from '../../core/base/defined.ts';
import { describeModule, surveyToken } from '../../hsm/setup/setup.ts';
import type { HashName } from '../../hsm/api.ts';
import { hashRows } from '../../hsm/pkcs11/mechanisms.ts';
import type { TokenSurvey } from '../../hsm/setup/survey.ts';
import { findModules } from '../harness/token/modules.ts';

const tables = resolve(import.meta.dirname, '../../hsm/capabilities');

test.for(await findModules({ builds: true }))('$name does what its table says', async (module, { skip }) => {
  const directory = mkdtempSync(join(tmpdir(), 'keystored-capabilities-'));
  try {
    const token = await module.make(directory);
    const { version } = await describeModule(token.module, {
      ...defined({ environment: token.environment, libraryParameters: token.libraryParameters }),
    });
    const title = `${module.name} ${module.version ?? version}`;
    const file = join(tables, `${title.toLowerCase().replaceAll(' ', '-')}.md`);
    const page = formatSurvey(title, await surveyToken(token));
    if (process.env['KEYSTORED_CAPABILITIES'] === 'write') writeFileSync(file, page);
    skip(!existsSync(file), `${title} has no table yet; KEYSTORED_CAPABILITIES=write makes one`);
    expect(page).toBe(readFileSync(file, 'utf8'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

/** The page of a survey in hsm/capabilities. */
function formatSurvey(title: string, survey: TokenSurvey): string {
  const rows = survey.types.map(({ type, mechanism, offered, findings }) => {
    if (!offered || findings === undefined) return `| ${type} | ${mechanism} | not offered | | | |`;
    const { wrapped, token } = findings;
    return `| ${type} | ${mechanism} | ${wrapped.kept} | ${wrapped.exported} | ${token.kept} | ${token.exported} |`;
  });
  const hashes = Object.entries(survey.hmac).map(([hash, finding]) => `- ${hashRows[hash as HashName].hmacName}: ${finding}`);
  return [
    `# ${title}`,
    '',
    'Made by test/hsm/capabilities.long.test.ts from what the token did, not from what it says; do not edit.',
    '',
    '| Key type | Mechanism | Wrapped custody: kept as | exported | Token custody: kept as | exported |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    'HMAC with secrets of 32 octets:',
    '',
    ...hashes,
    '',
    `IVs of AES-GCM: ${survey.ivSource}`,
    '',
    `Signatures beside the plain ones: ${survey.signatureVariants.join(', ') || 'none'}`,
    '',
  ].join('\n');
}
